// SPDX-License-Identifier: Apache-2.0
// Compiling the rules by which answers are judged: texts of the configuration, then built-in ones.
// Pure; any thread.
#include <stdio.h>

#include "common/mem.h"
#include "common/text.h"
#include "fulfiller/outcome.h"

struct built_in {
  const char *when, *outcome;
};

// A 5xx may come from a gateway while the provider still works, and 408 and 504 say so: unknown. 401, 403 … 425 are
// faults of our side or of the moment: refusing the user for them would be wrong.
static const struct built_in status_rules[] = {
    {"2xx", "done"},  {"401", "retry"}, {"407", "retry"},   {"408", "unknown"},
    {"425", "retry"}, {"429", "retry"}, {"4xx", "refused"}, {"5xx", "unknown"},
};
// Before those, of all that acts.
static const struct built_in act_rules[] = {
    {"2xx /status=FAILED", "refused"},
    {"2xx /status=PENDING", "pending"},
    {"202", "pending"},
};
// Before both. What is not there any more cannot be taken back (again).
static const struct built_in take_back_rules[] = {
    {"2xx /status=NOT_FOUND", "not_found"},
    {"404", "not_found"},
};
// In place of those of what acts. Whatever is not done is asked about again, so an order that is paid, or is not there,
// is the inquiry's to find.
static const struct built_in close_rules[] = {
    {"2xx /status=FAILED", "refused"},
    {"2xx /status=SUCCESS", "refused"},
    {"2xx /status=PENDING", "unknown"},
    {"202", "unknown"},
};
static const struct built_in inquire_rules[] = {
    {"2xx /status=SUCCESS", "done"},
    {"2xx /status=PENDING", "pending"},
    {"2xx /status=FAILED", "refused"},
    {"2xx /status=NOT_FOUND", "not_found"},
    {"404", "not_found"},
};

#define FAIL(fault, ...) (snprintf((fault)->text, sizeof(fault)->text, __VA_ARGS__), RESULT_INVALID)

bool answer_may_be_not_found(enum provider_action action, enum call_kind kind)
{
  return kind == CALL_INQUIRE || action == ACTION_REVERSE || action == ACTION_REFUND;
}

static bool outcome_from(const char *text, enum outcome *out_outcome)
{
  for (int i = 0; i < OUTCOME_COUNT; i++) {
    if (strcmp(text, outcome_name((enum outcome)i)) != 0) continue;
    *out_outcome = (enum outcome)i;
    return true;
  }
  return false;
}

static bool status_from(const char *text, size_t len, int *out_from, int *out_to)
{
  int32_t exact = 0;
  if (len != 3 || text[0] < '1' || text[0] > '5') return false;
  if (text[1] == 'x' && text[2] == 'x') {
    *out_from = (text[0] - '0') * 100;
    *out_to = *out_from + 99;
    return true;
  }
  if (text_to_i32(text, len, &exact) != RESULT_OK) return false;
  *out_from = *out_to = exact;
  return true;
}

// "STATUS" or "STATUS POINTER=VALUE"
static enum result rule_compile(const char *when, const char *outcome, const struct answer_rules *rules,
                                struct answer_rule *out, struct conf_fault *fault)
{
  bool may_be_not_found = answer_may_be_not_found(rules->action, rules->kind);
  struct answer_rule rule = {0};
  size_t status_len = strcspn(when, " ");
  if (!status_from(when, status_len, &rule.status_from, &rule.status_to)) {
    return FAIL(fault, "rule '%.80s' must begin with a status such as 200 or a class such as 2xx", when);
  }
  bool may_be_pending = rules->kind != CALL_CLOSE;
  if (!outcome_from(outcome, &rule.outcome) || (!may_be_not_found && rule.outcome == OUTCOME_NOT_FOUND) ||
      (!may_be_pending && rule.outcome == OUTCOME_PENDING)) {
    return FAIL(fault, "rule '%.80s': the outcome must be done, %sretry, refused%s or unknown (found: %.40s)", when,
                may_be_pending ? "pending, " : "", may_be_not_found ? ", not_found" : "", outcome);
  }
  if (rules->kind == CALL_INQUIRE && rule.outcome == OUTCOME_RETRY && rule.status_from >= 300) {
    return FAIL(
        fault,
        "rule '%.80s': an inquiry that failed says nothing about what it asks after, and retry would do it again: "
        "use unknown",
        when);
  }
  const char *rest = when + status_len + strspn(when + status_len, " ");
  const char *equals = strchr(rest, '=');
  if (rest[0] != '\0' && (rest[0] != '/' || equals == NULL)) {
    return FAIL(fault, "rule '%.80s': after the status only POINTER=VALUE may follow, such as /status=SUCCESS", when);
  }
  if (rest[0] != '\0') {
    rule.pointer = mem_strndup(rest, (size_t)(equals - rest));
    rule.value = mem_strdup(equals + 1);
  }
  *out = rule;
  return RESULT_OK;
}

// Would an earlier rule always match where this one does?
static bool is_shadowed(const struct answer_rule *earlier, const struct answer_rule *later)
{
  bool covers = earlier->status_from <= later->status_from && earlier->status_to >= later->status_to;
  if (!covers || earlier->pointer == NULL) return covers;
  return later->pointer != NULL && strcmp(earlier->pointer, later->pointer) == 0 &&
         strcmp(earlier->value, later->value) == 0;
}

static enum result add_own(struct answer_rules *rules, const struct conf_pairs *own, struct conf_fault *fault)
{
  for (size_t i = 0; i < own->count; i++) {
    struct answer_rule *rule = &rules->items[rules->count];
    fault->line = conf_pair_line(own, i);
    if (rule_compile(own->items[i].name, own->items[i].value, rules, rule, fault) != RESULT_OK) return RESULT_INVALID;
    rules->count++;
    for (size_t j = 0; j + 1 < rules->count; j++) {
      if (!is_shadowed(&rules->items[j], rule)) continue;
      return FAIL(fault, "rule '%.80s' can never match: '%.80s' comes before it", own->items[i].name,
                  own->items[j].name);
    }
  }
  fault->line = 0;
  return RESULT_OK;
}

static enum result add_built_in(struct answer_rules *rules, const struct built_in *rows, size_t count,
                                struct conf_fault *fault)
{
  enum result result = RESULT_OK;
  for (size_t i = 0; result == RESULT_OK && i < count; i++)
    result = rule_compile(rows[i].when, rows[i].outcome, rules, &rules->items[rules->count++], fault);
  return result;
}

enum result answer_rules_compile(const struct conf_pairs *own, enum provider_action action, enum call_kind kind,
                                 struct answer_rules *out_rules, struct conf_fault *out_fault)
{
  enum result result;
  size_t max = own->count + ARRAY_LEN(take_back_rules) + ARRAY_LEN(close_rules) + ARRAY_LEN(act_rules) +
               ARRAY_LEN(status_rules) + ARRAY_LEN(inquire_rules);
  struct answer_rules rules = {.items = MEM_ARRAY(struct answer_rule, max), .action = action, .kind = kind};
  TRY(add_own(&rules, own, out_fault));
  if (kind == CALL_INQUIRE) {
    TRY(add_built_in(&rules, inquire_rules, ARRAY_LEN(inquire_rules), out_fault));
  } else {
    if (answer_may_be_not_found(action, kind))
      TRY(add_built_in(&rules, take_back_rules, ARRAY_LEN(take_back_rules), out_fault));
    if (kind == CALL_CLOSE)
      TRY(add_built_in(&rules, close_rules, ARRAY_LEN(close_rules), out_fault));
    else
      TRY(add_built_in(&rules, act_rules, ARRAY_LEN(act_rules), out_fault));
    TRY(add_built_in(&rules, status_rules, ARRAY_LEN(status_rules), out_fault));
  }
  *out_rules = rules;
  rules = (struct answer_rules){0};
cleanup:
  answer_rules_release(&rules);
  return result;
}

void answer_rules_release(struct answer_rules *rules)
{
  for (size_t i = 0; i < rules->count; i++) {
    mem_free(rules->items[i].pointer);
    mem_free(rules->items[i].value);
  }
  mem_free(rules->items);
  *rules = (struct answer_rules){0};
}
