// SPDX-License-Identifier: Apache-2.0
// Tests of the embedded console: types, compression, caching, what is not there, and that nothing in the page is
// against its own policy.
// Owner: unit tests.
#include "reconciler/assets.c"

#include "tests/unit/web_fixture.h"

#define FILES "/assets/" ASSETS_VERSION "/"

static const struct web_route asset_items[] = {
    {"GET", "/", WEB_OPEN, WEB_BODY_NONE, 0, assets_page, "page"},
    {"GET", "/assets/{version}/{file}", WEB_OPEN, WEB_BODY_NONE, 0, assets_file, "assets"},
};
static const struct web_routes asset_routes = {asset_items, ARRAY_LEN(asset_items)};

static int setup_assets(void **state)
{
  char why[WEB_WHY_BYTES];
  if (setup(state) != 0) return -1;
  struct fixture *f = *state;
  f->server = web_server_new(&f->rt, &f->conf, &asset_routes, f);
  web_server_set_policy(f->server, ASSETS_POLICY);
  return web_server_start(f->server, why) == RESULT_OK ? 0 : -1;
}

static void the_page_names_its_version(void **state)
{
  const char *answer = ask(*state, "GET / HTTP/1.1\r\n" HOST "\r\n");
  assert_has(answer, "200 OK");
  assert_has(answer, "Content-Type: text/html; charset=utf-8\r\n");
  assert_has(answer, "Cache-Control: no-cache\r\n");
  assert_has(answer, "script-src 'self';");
  assert_has(answer, "\"assets/" ASSETS_VERSION "/app.js\"");
  assert_has_not(answer, "@VERSION@");
  assert_has_not(answer, " style=");
  assert_has_not(answer, "<script>");
  assert_has(ask(*state, "HEAD / HTTP/1.1\r\n" HOST "\r\n"), "200 OK");
}

static void files_have_types_and_stay(void **state)
{
  static const struct {
    const char *file, *type;
  } cases[] = {{"app.js", "text/javascript; charset=utf-8"},
               {"console.css", "text/css; charset=utf-8"},
               {"bootstrap.min.css", "text/css; charset=utf-8"},
               {"chart.min.js", "text/javascript; charset=utf-8"},
               {"icon.svg", "image/svg+xml"}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "GET " FILES "%s HTTP/1.1\r\n" HOST "\r\n", cases[i].file);
    const char *answer = ask(*state, buf_text(&b));
    assert_has(answer, "200 OK");
    assert_has(answer, cases[i].type);
    assert_has(answer, "Cache-Control: public, max-age=31536000, immutable\r\n");
    assert_has(answer, "Content-Security-Policy: default-src 'self';");
    assert_has(answer, "ETag: \"" ASSETS_VERSION "\"\r\n");
    buf_release(&b);
  }
}

static void who_takes_gzip_gets_it(void **state)
{
  static const struct {
    const char *accept;
    bool is_zipped;
  } cases[] = {{"gzip", true},
               {"br, gzip;q=0.5", true},
               {"deflate,gzip", true},
               {"identity", false},
               {"x-gzip", false},
               {"gzip;q=0", false},
               {"gzipped", false},
               {"gzip; q=0.000, br", false},
               {"gzip;q=1", true},
               {"br;q=1.0, gzip", true},
               {"", false},
               {"gzip;q=0.01, br", true}};
  for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "GET " FILES "app.js HTTP/1.1\r\n" HOST "Accept-Encoding: %s\r\n\r\n", cases[i].accept);
    const char *answer = ask(*state, buf_text(&b));
    assert_has(answer, "Vary: Accept-Encoding\r\n");
    if (cases[i].is_zipped)
      assert_has(answer, "Content-Encoding: gzip\r\n");
    else
      assert_has_not(answer, "Content-Encoding");
    buf_release(&b);
  }
}

static void who_has_it_is_told_so(void **state)
{
  const char *answer = ask(*state, "GET / HTTP/1.1\r\n" HOST "If-None-Match: \"0\", W/\"" ASSETS_VERSION "\"\r\n\r\n");
  assert_has(answer, "304 Not Modified");
  assert_has(answer, "ETag: \"" ASSETS_VERSION "\"\r\n");
  assert_has(ask(*state, "GET / HTTP/1.1\r\n" HOST "If-None-Match: \"0\"\r\n\r\n"), "200 OK");
}

static void what_is_not_there_is_404(void **state)
{
  static const char *const paths[] = {FILES "none.js",    FILES "index.html", FILES "..%2Fapp.js",
                                      "/assets/0/app.js", "/assets/app.js",   "/app.js"};
  for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
    struct buf b;
    buf_init(&b, 1000);
    buf_printf(&b, "GET %s HTTP/1.1\r\n" HOST "\r\n", paths[i]);
    assert_has(ask(*state, buf_text(&b)), " 404 ");
    buf_release(&b);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(the_page_names_its_version, setup_assets, teardown),
      cmocka_unit_test_setup_teardown(files_have_types_and_stay, setup_assets, teardown),
      cmocka_unit_test_setup_teardown(who_takes_gzip_gets_it, setup_assets, teardown),
      cmocka_unit_test_setup_teardown(who_has_it_is_told_so, setup_assets, teardown),
      cmocka_unit_test_setup_teardown(what_is_not_there_is_404, setup_assets, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
