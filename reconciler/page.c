// SPDX-License-Identifier: Apache-2.0
// The page at /: findings, dead letters and operations as text, made on the server, without scripts.
// Owner: web routes; loop thread.
#include "reconciler/page.h"

#include <string.h>

#include "common/doc_text.h"
#include "common/html_out.h"
#include "common/jsonx.h"
#include "reconciler/call.h"
#include "reconciler/store_operation.h"

#define ROWS_MAX       200
#define OPERATIONS_MAX 20

static const char policy[] =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

static const char style[] =
    ":root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }\n"
    "body { max-width: 80rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h2 { margin-top: 2.5rem; }\n"
    ".scroll { overflow-x: auto; }\n"
    "table { border-collapse: collapse; width: 100%; }\n"
    "th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #8886; }\n"
    "td { overflow-wrap: anywhere; }\n"
    ".ok { color: #18794e; } .bad { color: #c62a2f; }\n"
    "@media (prefers-color-scheme: dark) { .ok { color: #4cc38a; } .bad { color: #ff8589; } }\n";

static const char head[] =
    "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
    "content=\"width=device-width, initial-scale=1\">\n"
    "<title>largesse reconciler</title><link rel=\"stylesheet\" href=\"/page.css\"></head><body>\n<h1>largesse "
    "reconciler</h1>\n";

static const struct doc_column finding_columns[] = {
    {"Severity", "severity", 0},  {"State", "state", 0},       {"Kind", "kind", 0},     {"Activity", "activityCode", 0},
    {"Claim", "claimId", 0},      {"Expected", "expected", 0}, {"Actual", "actual", 0}, {"Cause", "cause", 0},
    {"Next step", "nextStep", 0}, {"Opened", "openedAt", 0},   {NULL, NULL, 0},
};
static const struct doc_column letter_columns[] = {
    {"Id", "id", 0},
    {"Claim", "claimId", 0},
    {"Activity", "activityCode", 0},
    {"User", "userId", 0},
    {"Provider", "provider", 0},
    {"Cause", "cause", 0},
    {"Attempts", "attempts", 0},
    {"Detail", "detail", 0},
    {"Opened", "openedAt", 0},
    {NULL, NULL, 0},
};
static const struct doc_column operation_columns[] = {
    {"Id", "operationId", 0},  {"Kind", "kind", 0},           {"State", "state", 0}, {"Done", "done", 0},
    {"Of", "total", 0},        {"Skipped", "alreadyDone", 0}, {"Actor", "actor", 0}, {"Reason", "reason", 0},
    {"Begun", "createdAt", 0}, {"Ended", "finishedAt", 0},    {NULL, NULL, 0},
};

static void harden(struct web_request *web)
{
  web_reply_header(web, "Content-Security-Policy", policy);
  web_reply_header(web, "X-Content-Type-Options", "nosniff");
  web_reply_header(web, "Referrer-Policy", "no-referrer");
  web_reply_header(web, "Cache-Control", "no-store");
}

void page_style(struct web_request *web)
{
  harden(web);
  web_reply(web, 200, "text/css; charset=utf-8", style, sizeof style - 1);
}

static void put_cell(struct buf *b, const json_t *value)
{
  buf_puts(b, "<td>");
  if (json_is_string(value))
    html_put_text(b, json_string_value(value));
  else if (json_is_integer(value))
    buf_put_i64(b, (int64_t)json_integer_value(value));
}

static void put_doc(struct buf *b, const struct doc_column *columns, const char *doc, size_t len)
{
  json_t *json = NULL;
  if (jsonx_parse(doc, len, &json, NULL) != RESULT_OK) return;
  buf_puts(b, "<tr>");
  for (; columns->title != NULL; columns++) put_cell(b, json_object_get(json, columns->member));
  buf_puts(b, "</tr>\n");
  json_decref(json);
}

struct table_words {
  const char *title, *none, *command;
  const char *tone;  // of the count, if there is something
};

static void put_table(struct buf *b, const struct doc_column *columns, const struct db_rows *rows,
                      const struct table_words *words)
{
  size_t count = db_rows_count(rows);
  buf_printf(b, "<h2>%s</h2>\n", words->title);
  if (count == 0) {
    buf_printf(b, "<p class=\"ok\">%s</p>\n", words->none);
    return;
  }
  buf_printf(b, "<p class=\"%s\">%s%zu%s</p>\n<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>", words->tone,
             count == ROWS_MAX ? "The first " : "", count, count == 1 ? " entry" : " entries");
  for (const struct doc_column *c = columns; c->title != NULL; c++) buf_printf(b, "<th scope=\"col\">%s", c->title);
  buf_puts(b, "</tr></thead><tbody>\n");
  for (size_t i = 0; i < count; i++) put_doc(b, columns, db_rows_text(rows, i, 1), db_rows_text_len(rows, i, 1));
  buf_printf(b, "</tbody></table></div>\n<p>On the command line: <code>%s</code></p>\n", words->command);
}

struct page_call {
  struct call call;
  struct buf html;
};

static struct page_call *of(struct call *c) { return CONTAINER_OF(c, struct page_call, call); }

static void on_end(struct call *c) { buf_release(&of(c)->html); }

static void on_operations(struct call *c, const struct db_rows *rows)
{
  struct buf *b = &of(c)->html;
  put_table(b, operation_columns, rows,
            &(struct table_words){"Operations", "Nobody has ordered anything yet.",
                                  "reconciler operations list|show|cancel", "ok"});
  buf_puts(b, "</body></html>\n");
  harden(c->web);
  if (buf_result(b) == RESULT_OK)
    web_reply(c->web, 200, "text/html; charset=utf-8", buf_text(b), b->len);
  else
    web_reply_problem(c->web,
                      &(struct web_problem){.code = "TOO_LARGE", .status = 413, .detail = "the page is too large"});
  call_end(c);
}

static void on_letters(struct call *c, const struct db_rows *rows)
{
  put_table(&of(c)->html, letter_columns, rows,
            &(struct table_words){"Dead letters", "Nothing waits for a person.",
                                  "reconciler dead-letters list|groups|show|retry|refund|resolve", "bad"});
  c->on_rows = on_operations;
  call_send(c, store_operation_list(call_args(c), NULL, NULL, 0, OPERATIONS_MAX));
}

static void on_findings(struct call *c, const struct db_rows *rows)
{
  const struct dead_letter_filter any = {NULL, NULL, NULL, NULL};
  put_table(&of(c)->html, finding_columns, rows,
            &(struct table_words){"Findings", "No finding is open.", "reconciler findings list|show", "bad"});
  c->on_rows = on_letters;
  call_send(c, store_dead_letter_list(call_args(c), "open", &any, 0, ROWS_MAX));
}

void page_show(struct web_request *web)
{
  const struct finding_filter any = {NULL, NULL, NULL};
  struct page_call *p = of(call_new(web, sizeof *p, on_findings));
  p->call.on_end = on_end;
  buf_init(&p->html, 8u * 1024u * 1024u);
  buf_puts(&p->html, head);
  call_send(&p->call, store_finding_list(call_args(&p->call), &any, "", ROWS_MAX));
}
