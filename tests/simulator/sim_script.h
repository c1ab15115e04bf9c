// SPDX-License-Identifier: Apache-2.0
// Scripts: what a test wants the provider to do with the next matching POSTs. Parsing, matching and the order of the
// steps; no I/O. A step handed out stays valid while its script is held.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clk.h"
#include "common/http_client.h"
#include "common/jsonx.h"
#include "common/list.h"
#include "common/result.h"

#define SIM_SCRIPTS_MAX         4096
#define SIM_SCRIPT_STEPS_MAX    256
#define SIM_STEP_HEADERS_MAX    8
#define SIM_SCRIPTS_BYTES_MAX   (64u * 1024u * 1024u)
#define SIM_STEP_DELAY_MAX_MS   3600000
#define SIM_CALLBACK_COPIES_MAX 1000

enum sim_call_kind { SIM_CALL_CREDIT, SIM_CALL_PAYMENT, SIM_CALL_REVERSE, SIM_CALL_REFUND, SIM_CALL_CLOSE };
enum sim_effect_when { SIM_BEFORE, SIM_AFTER, SIM_NEVER };
enum sim_sign { SIM_SIGN_GOOD, SIM_SIGN_BAD, SIM_SIGN_NONE };

struct sim_step_callback {
  bool wanted;
  struct span delay;  // from the arrival of the POST
  struct span gap;    // between two copies
  bool failed;        // status FAILED instead of SUCCESS
  int copies;
  enum sim_sign sign;
  char *event_id;  // NULL: a new one; all copies share it
};

struct sim_step {
  struct span delay;  // from the arrival of the POST to its answer
  int status;         // 0: what the simulator would answer without a script
  const char *body;   // NULL: the standard body for the status; owned
  size_t body_len;
  struct http_header headers[SIM_STEP_HEADERS_MAX];  // owned
  size_t header_count;
  enum sim_effect_when effect;
  bool close;
  struct sim_step_callback callback;
};

// What a POST looks like to a script. A NULL text matches nothing that asks for it.
struct sim_subject {
  enum sim_call_kind call;
  const char *request_id;  // of the credit or payment
  const char *refund_id;   // reverse and refund only
  const char *user_id, *reward_code;
};

struct sim_script {
  struct list node;  // among the scripts with uses left, in the order they were posted
  bool any;
  int call;                                  // enum sim_call_kind, or -1: all
  char *request_id, *user_id, *reward_code;  // NULL: not asked for
  struct sim_step *steps;
  size_t step_count;
  uint64_t used, uses;  // times * steps
  size_t bytes;         // for the cap over all scripts
  unsigned holders;     // the list, and each call that plays a step
};

struct sim_scripts {
  struct list items;
  size_t count, bytes;
};

void sim_scripts_init(struct sim_scripts *s);
void sim_scripts_clear(struct sim_scripts *s);
// Takes a posted script in. RESULT_INVALID with one line in out_why; RESULT_FULL.
MUST_CHECK enum result sim_scripts_add(struct sim_scripts *s, const json_t *object, char out_why[JSONX_WHY_BYTES]);
// The next step of the first matching script, or NULL. The caller holds *out_script until sim_script_drop.
const struct sim_step *sim_scripts_take(struct sim_scripts *s, const struct sim_subject *subject,
                                        struct sim_script **out_script);
void sim_script_drop(struct sim_script *script);
