// SPDX-License-Identifier: Apache-2.0
// The list of scripts: which one a POST meets, and which of its steps.
// Owner: the simulator's loop thread. Parsing is in sim_script_parse.c.
#include "tests/simulator/sim_script.h"

#include <string.h>

#include "common/mem.h"
#include "tests/simulator/sim_script_parse.h"

static void step_release(struct sim_step *step)
{
  for (size_t i = 0; i < step->header_count; i++) {
    mem_free((char *)(uintptr_t)step->headers[i].name);
    mem_free((char *)(uintptr_t)step->headers[i].value);
  }
  mem_free((char *)(uintptr_t)step->body);
  mem_free(step->callback.event_id);
}

void sim_script_drop(struct sim_script *script)
{
  if (--script->holders > 0) return;
  for (size_t i = 0; i < script->step_count; i++) step_release(&script->steps[i]);
  mem_free(script->steps);
  mem_free(script->request_id);
  mem_free(script->user_id);
  mem_free(script->reward_code);
  mem_free(script);
}

void sim_scripts_init(struct sim_scripts *s)
{
  list_init(&s->items);
  s->count = 0;
  s->bytes = 0;
}

static void forget(struct sim_scripts *s, struct sim_script *script)
{
  list_remove(&script->node);
  s->count--;
  s->bytes -= script->bytes;
  sim_script_drop(script);
}

void sim_scripts_clear(struct sim_scripts *s)
{
  LIST_EACH (node, following, &s->items) forget(s, CONTAINER_OF(node, struct sim_script, node));
}

enum result sim_scripts_add(struct sim_scripts *s, const json_t *object, char out_why[JSONX_WHY_BYTES])
{
  if (s->count >= SIM_SCRIPTS_MAX) return RESULT_FULL;
  struct sim_script *script = NULL;
  enum result result = sim_script_parse(object, &script, out_why);
  if (result != RESULT_OK) return result;
  if (s->bytes + script->bytes > SIM_SCRIPTS_BYTES_MAX) {
    sim_script_drop(script);
    return RESULT_FULL;
  }
  list_add_last(&s->items, &script->node);
  s->count++;
  s->bytes += script->bytes;
  return RESULT_OK;
}

static bool text_matches(const char *wanted, const char *given)
{
  return wanted == NULL || (given != NULL && strcmp(wanted, given) == 0);
}

// A request id also names a reversal by its refund id, since that is the request id of the reversing call.
static bool script_matches(const struct sim_script *script, const struct sim_subject *subject)
{
  if (script->call >= 0 && script->call != (int)subject->call) return false;
  if (script->any) return true;
  if (!text_matches(script->user_id, subject->user_id) || !text_matches(script->reward_code, subject->reward_code))
    return false;
  return text_matches(script->request_id, subject->request_id) ||
         (subject->refund_id != NULL && text_matches(script->request_id, subject->refund_id));
}

const struct sim_step *sim_scripts_take(struct sim_scripts *s, const struct sim_subject *subject,
                                        struct sim_script **out_script)
{
  LIST_EACH (node, following, &s->items) {
    struct sim_script *script = CONTAINER_OF(node, struct sim_script, node);
    if (!script_matches(script, subject)) continue;
    const struct sim_step *step = &script->steps[script->used % script->step_count];
    script->holders++;
    if (++script->used == script->uses) forget(s, script);
    *out_script = script;
    return step;
  }
  return NULL;
}
