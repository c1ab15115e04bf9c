// SPDX-License-Identifier: Apache-2.0
// Activities and claims from a test's side: activities are made in SQL, claims are sent over HTTP and read back
// strictly. What goes wrong outside the thing under test ends the program.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "tests/support/http.h"
#include "tests/support/sql.h"

#define CLAIM_STOCK_UNLIMITED (-1)

// A published activity of kind reward, delivered by a provider. Times are SQL: expressions over
// largesse.clock_now(), which stands for `now` in them; NULL: an hour ago, in an hour.
struct activity_terms {
  const char *code;
  int64_t stock;
  const char *limits;  // JSON; NULL: one in total
  const char *start, *end;
  const char *time_zone;  // NULL: Asia/Shanghai
  const char *provider;   // NULL: simulator; the reward is voucher-100 with it, else voucher-<provider>
  bool draft;             // leave it unpublished
};
void activity_make(struct sql *sql, const struct activity_terms *terms);
// Copies of an activity in its present state, code-1 … code-count, with the same window and stock, as quickly as rows
// can be written.
void activity_multiply(struct sql *sql, const char *code, int count);
int64_t activity_remaining(struct sql *sql, const char *code);
int64_t activity_claims(struct sql *sql, const char *code);  // rows
// Everything a claim could change, as text: claims, usage, stock. Heap.
char *activity_books(struct sql *sql, const char *code);
// POST …/{action} {"reason"}; the status.
int activity_act(int port, const char *code, const char *action);

struct claim_click {
  int port;
  const char *code;  // of the activity
  int64_t user;
  char biz_id[65];
  int quantity;         // 0: left out
  const char *channel;  // NULL: left out
  const char *numbers;  // a JSON array; NULL: left out
};
struct claim_answer {
  int status;     // 0: no answer
  bool replayed;  // Idempotent-Replayed: true
  char code[40];  // of a problem
  char claim_id[48];
  char claim_status[16];
  int64_t quantity;
  double seconds;
};
char *claim_body(const struct claim_click *c);  // JSON; heap
struct claim_answer claim_read(const struct http_answer *a);
struct claim_answer claim_send(const struct claim_click *c);
void claim_send_all(const struct claim_click *clicks, size_t count,
                    struct claim_answer *outs);  // all at the same moment
struct claim_click claim_click(int port, const char *code, int64_t user, const char *biz_format, ...) PRINTF_LIKE(4, 5);

// How many have this status and, unless it is NULL, this code.
size_t claim_count(const struct claim_answer *answers, size_t count, int status, const char *code);
// "24 x 410 ENDED, 1 x 503 OVERLOADED, the slowest after 0.21 s", for messages. Heap.
char *claim_summary(const struct claim_answer *answers, size_t count);
