// SPDX-License-Identifier: Apache-2.0
// The provider simulator's one context, and what its parts offer each other. Everything runs on the loop's thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/http_client.h"
#include "common/runtime.h"
#include "common/signature.h"
#include "common/web.h"
#include "tests/simulator/sim_chaos.h"
#include "tests/simulator/sim_ledger.h"
#include "tests/simulator/sim_notice.h"
#include "tests/simulator/sim_script.h"

#define SIM_URL_BYTES            512
#define SIM_ANSWER_BYTES         512
#define SIM_CALLBACKS_MAX        100000  // waiting or open
#define SIM_CALLBACK_CALLS_MAX   1024    // open at once
#define SIM_CALLBACK_CONNECTIONS 64L

// Counted since the start or the last /sim/reset. Effects and duplicates are in the ledger's totals.
struct sim_stats {
  uint64_t requests, inquiries;
  uint64_t in_flight, max_in_flight, max_in_flight_per_request_id;
  uint64_t callbacks_sent, callbacks_accepted, callbacks_failed, callbacks_dropped;
};

struct sim {
  struct runtime rt;
  struct web_server *web;
  struct web_conf web_conf;
  struct http_client *http;
  struct signature *signature;
  struct sim_keys keys;
  enum sim_profile profile;          // how callbacks look
  char base_url[SIM_URL_BYTES];      // of this simulator, for pay pages
  char preset_url[SIM_URL_BYTES];    // --callback-url; /sim/reset returns to it
  char callback_url[SIM_URL_BYTES];  // "": no callbacks
  bool dedupe, auto_pay;
  struct sim_ledger *ledger;
  struct sim_scripts scripts;
  struct sim_chaos chaos;  // of users that no script is for
  struct sim_stats stats;
  uint32_t generation;           // grows with each reset: what was under way before must not touch the new books
  uint64_t next_event;           // for event ids
  struct list calls, callbacks;  // those that wait for a timer
  size_t callbacks_waiting;
};

// sim_answer.c: what the provider says without a script.
struct sim_answer {
  int status;
  char body[SIM_ANSWER_BYTES];
  size_t len;
};
void sim_answer_order(const struct sim *sim, const struct sim_entry *e,
                      struct sim_answer *out);  // as the books stand now
// The standard body of a status. about_to_apply: the effect follows the answer, so the reference is that of the next
// effect.
void sim_answer_status(const struct sim *sim, const struct sim_entry *e, int status, bool about_to_apply,
                       struct sim_answer *out);
void sim_answer_closed(const struct sim *sim, const struct sim_entry *e, struct sim_answer *out);
void sim_answer_reversal(const struct sim_entry *e, uint32_t ordinal, struct sim_answer *out);
void sim_answer_code(int status, const char *code, struct sim_answer *out);
const char *sim_status_name(enum sim_status status);
const char *sim_effect_name(enum sim_effect_type type);
// The provider's own reference of an effect: sim-<entry>, later ones sim-<entry>-2 …; reversals sim-<entry>-r1 …
#define SIM_REF_BYTES 40
void sim_ref(const struct sim_entry *e, enum sim_effect_type type, uint32_t ordinal, char out_ref[SIM_REF_BYTES]);

// sim_call.c: one POST of the provider's interface, from its arrival to its answer, with or without a script.
void sim_call_run(struct sim *sim, struct web_request *req, enum sim_call_kind kind, struct sim_entry *e,
                  const char *refund_id);
void sim_calls_stop(struct sim *sim);  // ends the calls that wait, without an answer

// sim_callback.c: news for the fulfiller, now or later. moves_money: a pending entry is settled when the news leaves.
// refund_id: the news is about a reversal or a refund of the entry; else NULL.
void sim_callback_send(struct sim *sim, struct sim_entry *e, const char *refund_id, const struct sim_step_callback *how,
                       bool moves_money);
void sim_callbacks_stop(struct sim *sim);

// sim_api_*.c: the handlers, and the table of routes.
web_handler sim_credit_create, sim_credit_show, sim_credit_reverse, sim_credit_reverse_show;
web_handler sim_payment_create, sim_payment_show, sim_payment_refund, sim_payment_refund_show, sim_payment_pay,
    sim_payment_fail, sim_payment_page, sim_payment_close;
web_handler sim_control_config, sim_control_config_show, sim_control_reset, sim_control_script, sim_control_chaos;
web_handler sim_report_ledger, sim_report_stats, sim_report_statement;
const struct web_routes *sim_routes(void);

void sim_reply(struct web_request *req, const struct sim_answer *a);
void sim_reset(struct sim *sim);
