// SPDX-License-Identifier: Apache-2.0
// Reports over HTTP in the form that is asked for, and reviews of activities and events. Owner: web routes; loop
// thread.
#include "reconciler/report_api.h"

#include <stdio.h>
#include <string.h>

#include "common/cmdline.h"
#include "common/signature.h"
#include "common/text.h"
#include "reconciler/call.h"
#include "reconciler/messages.h"
#include "reconciler/review.h"
#include "reconciler/review_paper.h"

#define PAGE_BYTES_MAX (64u * 1024u * 1024u)

static bool read_language(struct web_request *web)
{
  const char *language = NULL;
  int index;
  if (!call_text(web, "language", &language)) return false;
  if (language == NULL) return true;
  if (!cmdline_choice(language, "en|zh", &index)) {
    call_refuse(web, "language: must be en or zh");
    return false;
  }
  web_choose_language(web, index == 1);
  return true;
}

bool report_api_format(struct web_request *web, enum report_format *out_format)
{
  const char *format = NULL;
  *out_format = REPORT_JSON;
  if (!call_text(web, "format", &format)) return false;
  if (format == NULL || report_format_parse(format, out_format) == RESULT_OK) return read_language(web);
  call_refuse(web, "format: must be json, csv, html or text");
  return false;
}

// The page brings its style with it, and nothing else may be in it or come to it.
static void put_policy(struct web_request *web)
{
  uint8_t digest[SIGNATURE_SHA256_BYTES];
  struct signature *s = signature_new();
  struct buf policy;
  buf_init(&policy, 512);
  signature_sha256(s, paper_style(), strlen(paper_style()), digest);
  buf_puts(&policy, "default-src 'none'; style-src 'sha256-");
  text_base64(digest, sizeof digest, &policy);
  buf_puts(&policy, "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
  web_reply_header(web, "Content-Security-Policy", buf_text(&policy));
  buf_release(&policy);
  signature_free(s);
}

static void reply_page(struct web_request *web, enum report_format format, const struct buf *page, const char *name)
{
  static const char *const types[] = {[REPORT_TEXT] = "text/plain; charset=utf-8",
                                      [REPORT_JSON] = "application/json",
                                      [REPORT_CSV] = "text/csv; charset=utf-8",
                                      [REPORT_HTML] = "text/html; charset=utf-8"};
  char disposition[160];
  if (buf_result(page) != RESULT_OK) {
    web_reply_problem(web, &(struct web_problem){
                               .code = "TOO_LARGE", .status = 413, .detail = "the report is too large for an answer"});
    return;
  }
  if (format == REPORT_HTML) put_policy(web);
  if (report_format_is_told(format)) web_reply_language(web);
  if (format == REPORT_CSV) {
    (void)snprintf(disposition, sizeof disposition, "attachment; filename=\"%s.csv\"", name);
    web_reply_header(web, "Content-Disposition", disposition);
  }
  web_reply(web, 200, types[format], buf_text(page), page->len);
}

void report_api_reply(struct web_request *web, enum report_format format, const char *doc, size_t len,
                      const struct report_api_kind *kind, const char *name)
{
  struct buf page;
  json_t *json = NULL;
  if (format == REPORT_JSON) {
    web_reply_told(web, 200, doc, len, kind->told);
    return;
  }
  if (jsonx_parse(doc, len, &json, NULL) != RESULT_OK) {
    web_reply_problem(web,
                      &(struct web_problem){.code = "INTERNAL", .status = 500, .detail = "the server's log says more"});
    return;
  }
  buf_init(&page, PAGE_BYTES_MAX);
  struct paper *p = kind->paper_fn(json);
  if (report_format_is_told(format) && web_wants_chinese(web)) paper_tell_chinese(p, reconciler_messages());
  paper_put(p, format, doc, len, &page);
  reply_page(web, format, &page, name);
  paper_free(p);
  buf_release(&page);
  json_decref(json);
}

// --- reviews

struct review_call {
  struct call call;
  struct review review;
  enum report_format format;
};

static struct review_call *of(struct call *c) { return CONTAINER_OF(c, struct review_call, call); }

static const struct report_api_kind review_kind = {.paper_fn = review_paper_new};

static void on_end(struct call *c) { review_release(&of(c)->review); }

static void on_rows(struct call *c, const struct db_rows *rows)
{
  struct review_call *r = of(c);
  review_take(&r->review, rows);
  const struct db_statement *next = review_next(&r->review, call_args(c));
  if (next != NULL) {
    call_send(c, next);
    return;
  }
  if (r->review.step == REVIEW_UNKNOWN)
    call_not_found(c->web, r->review.what == REVIEW_EVENT ? "there is no such event" : "there is no such activity");
  else
    report_api_reply(c->web, r->format, db_rows_text(rows, 0, 0), db_rows_text_len(rows, 0, 0), &review_kind,
                     r->review.code);
  call_end(c);
}

static void show(struct web_request *web, enum review_what what)
{
  const char *code = web_param(web, "code");
  enum report_format format;
  if (!text_is_code(code, strlen(code))) {
    call_not_found(web, what == REVIEW_EVENT ? "there is no such event" : "there is no such activity");
    return;
  }
  if (!report_api_format(web, &format)) return;
  struct review_call *r = of(call_new(web, sizeof *r, on_rows));
  r->call.on_end = on_end;
  r->format = format;
  review_init(&r->review, what, code);
  call_send(&r->call, review_next(&r->review, call_args(&r->call)));
}

void report_api_activity(struct web_request *web) { show(web, REVIEW_ACTIVITY); }
void report_api_event(struct web_request *web) { show(web, REVIEW_EVENT); }
