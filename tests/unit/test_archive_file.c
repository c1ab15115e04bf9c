// SPDX-License-Identifier: Apache-2.0
// The file of an archived activity: what is written is read again, and any other byte is noticed.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/resource.h>
#include <unistd.h>

#include "common/gzip_file.h"
#include "common/mem.h"
#include "reconciler/archive_file.h"

struct place {
  char folder[64], path[96];
};

static int set_up(void **state)
{
  struct place *p = MEM_NEW(struct place);
  (void)snprintf(p->folder, sizeof p->folder, "/tmp/test_archive_XXXXXX");
  if (mkdtemp(p->folder) == NULL) return -1;
  (void)snprintf(p->path, sizeof p->path, "%s/a.gz", p->folder);
  *state = p;
  return 0;
}

static int tear_down(void **state)
{
  struct place *p = *state;
  (void)unlink(p->path);
  (void)rmdir(p->folder);
  mem_free(p);
  return 0;
}

static void row(struct archive_writer *w, struct archive_sums *sums, const char *table, const char *text)
{
  archive_sums_row(sums, text, strlen(text));
  archive_writer_row(w, table, text, strlen(text));
}

static void write_one(const char *path, struct archive_contents *contents)
{
  char why[ARCHIVE_WHY_BYTES];
  struct archive_writer *w = NULL;
  *contents = (struct archive_contents){
      .activity_id = 673000001, .code = "spring", .month = "2026-02", .exported_at = "2026-02-12T12:00:00.000000Z"};
  assert_int_equal(archive_writer_open(path, contents, &w, why), RESULT_OK);
  struct archive_sums *sums = archive_sums_new(contents);
  assert_int_equal(archive_sums_table(sums, "claim", 5), RESULT_OK);
  row(w, sums, "claim", "{\"id\":1,\"note\":\"}\\n{\\\"table\\\":\"}");
  row(w, sums, "claim", "{\"id\":2}");
  assert_int_equal(archive_sums_table(sums, "attempt", 7), RESULT_OK);
  assert_int_equal(archive_sums_table(sums, "usage", 5), RESULT_OK);
  row(w, sums, "usage", "{\"user_id\":1}");
  archive_sums_end(sums);
  archive_sums_free(sums);
  assert_int_equal(archive_writer_end(w, contents, why), RESULT_OK);
}

static void what_is_written_is_read(void **state)
{
  struct place *p = *state;
  struct archive_contents written, read;
  char why[ARCHIVE_WHY_BYTES];
  write_one(p->path, &written);
  assert_int_equal(archive_file_check(p->path, &read, why), RESULT_OK);
  assert_int_equal(read.activity_id, 673000001);
  assert_string_equal(read.code, "spring");
  assert_string_equal(read.month, "2026-02");
  assert_int_equal(read.rows, 3);
  assert_int_equal(read.table_count, 2);  // one had no rows
  assert_string_equal(archive_table_of(&read, "claim")->sha256, archive_table_of(&written, "claim")->sha256);
  assert_int_equal(archive_table_of(&read, "claim")->rows, 2);
  assert_null(archive_table_of(&read, "attempt"));
  assert_int_equal(strlen(read.sha256), 64);
}

static void a_file_that_exists_is_not_written_over(void **state)
{
  struct place *p = *state;
  struct archive_contents written;
  struct archive_writer *w = NULL;
  char why[ARCHIVE_WHY_BYTES] = "";
  write_one(p->path, &written);
  assert_int_equal(archive_writer_open(p->path, &written, &w, why), RESULT_UNAVAILABLE);
  assert_non_null(strstr(why, "File exists"));
}

// Every byte of the compressed file changed, and every length of it: none of these is taken for whole.
static void any_other_byte_is_noticed(void **state)
{
  struct place *p = *state;
  struct archive_contents contents, whole;
  char why[ARCHIVE_WHY_BYTES], bytes[4096];
  write_one(p->path, &contents);
  assert_int_equal(archive_file_check(p->path, &whole, why), RESULT_OK);
  FILE *f = fopen(p->path, "re");
  assert_non_null(f);
  size_t len = fread(bytes, 1, sizeof bytes, f);
  (void)fclose(f);
  for (size_t i = 0; i < 2 * len; i++) {
    char other[sizeof bytes];
    memcpy(other, bytes, len);
    if (i < len) other[i] = (char)(other[i] ^ 0x41);
    assert_non_null(f = fopen(p->path, "we"));
    (void)fwrite(other, 1, i < len ? len : i - len, f);
    (void)fclose(f);
    if (archive_file_check(p->path, &contents, why) == RESULT_OK)
      assert_string_not_equal(contents.sha256, whole.sha256);
  }
}

static void expect_fault(const char *path, const char *text, const char *fault)
{
  struct gzip_writer *w = NULL;
  struct archive_contents contents;
  char why[ARCHIVE_WHY_BYTES] = "";
  (void)unlink(path);
  assert_int_equal(gzip_writer_open(path, &w, why), RESULT_OK);
  gzip_writer_put(w, text, strlen(text));
  assert_int_equal(gzip_writer_end(w, why), RESULT_OK);
  assert_int_equal(archive_file_check(path, &contents, why), RESULT_INVALID);
  if (strstr(why, fault) == NULL) fail_msg("\"%s\" instead of \"%s\"", why, fault);
}

#define HEAD                                                                                                     \
  "{\"archive\":{\"format\":1,\"activityId\":\"1\",\"activityCode\":\"a\",\"month\":\"2026-02\",\"exportedAt\":" \
  "\"2026-02-12T12:00:00.000000Z\"}}\n"

static void what_is_no_archive_is_named(void **state)
{
  const char *path = ((struct place *)*state)->path;
  expect_fault(path, "", "it was cut");
  expect_fault(path, "{}\n", "no archive");
  expect_fault(path, "{\"archive\":{\"format\":2}}\n", "does not know");
  expect_fault(path, HEAD, "no manifest");
  expect_fault(path, HEAD "{\"table\":\"claim\",\"row\":{}", "no end");
  expect_fault(path, HEAD "{\"table\":\"claim\",\"row\":{}\n", "manifest");
  expect_fault(path, HEAD "{\"table\":\"claim\"}\n", "no row");
  expect_fault(path, HEAD "hello\n", "neither a row nor the manifest");
  expect_fault(path, HEAD "{\"manifest\":{}}\n", "does not name");
  expect_fault(path,
               HEAD "{\"manifest\":{\"tables\":[{\"table\":\"claim\",\"rows\":1,\"sha256\":\"00\"}],\"rows\":1}}\n",
               "0 rows, its manifest says 1");
  expect_fault(path,
               HEAD
               "{\"table\":\"claim\",\"row\":{}}\n{\"manifest\":{\"tables\":[{\"table\":\"claim\",\"rows\":1,"
               "\"sha256\":\"00\"}],\"rows\":1}}\n",
               "not those of its manifest");
}

static void months_are_read(void **state)
{
  (void)state;
  assert_true(archive_is_month("2026-11"));
  assert_true(archive_is_month("1970-01"));
  static const char *const others[] = {"2026-13",    "2026-00", "2026-1",  "202611", "1969-12",
                                       "2026-11-01", "",        "x026-11", "2026-1x"};
  for (size_t i = 0; i < ARRAY_LEN(others); i++) assert_false(archive_is_month(others[i]));
}

// The fault is told although its errno is long gone.
static void a_full_disk_is_named(void **state)
{
  struct place *p = *state;
  char why[GZIP_WHY_BYTES] = "";
  struct gzip_writer *w = NULL;
  uint64_t noise[1024], seed = 1;
  const struct rlimit small = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
  (void)signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(gzip_writer_open(p->path, &w, why), RESULT_OK);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (size_t round = 0; round < 256; round++) {
    for (size_t i = 0; i < 1024; i++) noise[i] = seed = seed * 6364136223846793005u + 1442695040888963407u;
    gzip_writer_put(w, noise, sizeof noise);
  }
  errno = 0;
  assert_int_equal(gzip_writer_end(w, why), RESULT_UNAVAILABLE);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
  assert_string_equal(why, "cannot write: File too large");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(what_is_written_is_read, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_file_that_exists_is_not_written_over, set_up, tear_down),
      cmocka_unit_test_setup_teardown(any_other_byte_is_noticed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(what_is_no_archive_is_named, set_up, tear_down),
      cmocka_unit_test_setup_teardown(a_full_disk_is_named, set_up, tear_down),
      cmocka_unit_test(months_are_read),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
