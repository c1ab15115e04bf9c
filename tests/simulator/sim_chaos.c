// SPDX-License-Identifier: Apache-2.0
// Fates: which one a user has, and what it makes of each call. A table says what the first calls meet; callbacks and
// Retry-After are added by fate. Pure; any thread.
#include "tests/simulator/sim_chaos.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "common/contract.h"

#define DEFAULT_SLOW_MS 1200
#define DEFAULT_SOON_MS 500
#define DEFAULT_LATE_MS 4000
#define WEIGHT_MAX      1000000
#define COPY_GAP_MS     70
#define RATE_AHEAD_S    2

static const char *const fate_names[SIM_FATES] = {
#define X(name, text, end, weight) [name] = (text),
    SIM_FATE_LIST(X)
#undef X
};
static const enum sim_end fate_ends[SIM_FATES] = {
#define X(name, text, end, weight) [name] = (end),
    SIM_FATE_LIST(X)
#undef X
};
static const uint32_t default_weights[SIM_FATES] = {
#define X(name, text, end, weight) [name] = (weight),
    SIM_FATE_LIST(X)
#undef X
};

const char *sim_end_name(enum sim_end end)
{
  static const char *const names[] = {
#define X(name, text) [name] = (text),
      SIM_END_LIST(X)
#undef X
  };
  return names[end];
}

const char *sim_fate_name(enum sim_fate fate)
{
  REQUIRE((size_t)fate < SIM_FATES);
  return fate_names[fate];
}

enum sim_end sim_fate_end(enum sim_fate fate)
{
  REQUIRE((size_t)fate < SIM_FATES);
  return fate_ends[fate];
}

// --- chance

static uint64_t mixed(uint64_t z)  // splitmix64's finish
{
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// A number for a user, one for each purpose, the same whenever it is asked for.
static uint64_t lot(const struct sim_chaos *c, const char *user_id, uint64_t purpose)
{
  uint64_t h = UINT64_C(14695981039346656037);
  for (const char *at = user_id; *at != '\0'; at++) h = (h ^ (uint8_t)*at) * UINT64_C(1099511628211);
  return mixed(mixed(h ^ mixed(c->seed + 1)) + purpose * UINT64_C(0x9e3779b97f4a7c15));
}
enum { LOT_FATE = 1, LOT_VARIANT, LOT_TIMES, LOT_REVERSAL };

enum sim_fate sim_chaos_fate(const struct sim_chaos *c, const char *user_id)
{
  REQUIRE(c->total > 0);
  uint64_t left = lot(c, user_id, LOT_FATE) % c->total;
  for (int fate = 0; fate < SIM_FATES; fate++) {
    if (left < c->weights[fate]) return (enum sim_fate)fate;
    left -= c->weights[fate];
  }
  return SIM_FATE_PLAIN;
}

// --- what calls meet

enum lasting { ONCE, SOME, EVER };  // the first call; the first or the first two; all

struct meeting {
  enum lasting lasting;
  enum sim_effect_when effect;
  int status;
  bool close, slow;
  const char *body;  // NULL: the standard one
};
static const struct meeting meetings[SIM_FATES] = {
    [SIM_FATE_LOST_ANSWER] = {ONCE, SIM_BEFORE, 0, .close = true},
    [SIM_FATE_LOST_REQUEST] = {SOME, SIM_NEVER, 0, .close = true},
    [SIM_FATE_SLOW_PAID] = {ONCE, SIM_BEFORE, 0, .slow = true},
    [SIM_FATE_SLOW_PAYING] = {ONCE, SIM_AFTER, 0, .slow = true},
    [SIM_FATE_SLOW_UNPAID] = {ONCE, SIM_NEVER, 0, .slow = true},
    [SIM_FATE_ERROR] = {SOME, SIM_NEVER, .status = 500},
    [SIM_FATE_ERROR_PAID] = {ONCE, SIM_BEFORE, .status = 500},
    [SIM_FATE_UNAVAILABLE] = {SOME, SIM_NEVER, .status = 503},
    [SIM_FATE_GATEWAY] = {ONCE, SIM_AFTER, .status = 502},
    [SIM_FATE_RATE_SECONDS] = {SOME, SIM_NEVER, .status = 429},
    [SIM_FATE_RATE_DATE] = {SOME, SIM_NEVER, .status = 429},
    [SIM_FATE_RATE_PAST] = {SOME, SIM_NEVER, .status = 429},
    [SIM_FATE_RATE_NONSENSE] = {SOME, SIM_NEVER, .status = 429},
    [SIM_FATE_RATE_HUGE] = {ONCE, SIM_NEVER, .status = 429},
    [SIM_FATE_WRONG_JSON] = {ONCE, SIM_BEFORE, 200, .body = "<html>Welcome to the hotel's network</html>"},
    [SIM_FATE_WRONG_JSON_UNPAID] = {SOME, SIM_NEVER, 200, .body = "{\"status\":\"SUCCESS\",\"ref\":\"sim"},
    [SIM_FATE_TWO_TRUTHS] = {ONCE, SIM_BEFORE, 200, .body = "{\"status\":\"FAILED\",\"status\":\"SUCCESS\"}"},
    [SIM_FATE_TWO_TRUTHS_UNPAID] = {SOME, SIM_NEVER, 200, .body = "{\"status\":\"SUCCESS\",\"status\":\"FAILED\"}"},
    [SIM_FATE_ERROR_INSIDE] = {EVER, SIM_NEVER, 200, .body = "{\"status\":\"FAILED\",\"code\":\"WALLET_CLOSED\"}"},
    [SIM_FATE_BUSY_INSIDE] = {SOME, SIM_NEVER, 200, .body = "{\"status\":\"ERROR\",\"code\":\"TRY_LATER\"}"},
    [SIM_FATE_REFUSED] = {EVER, SIM_NEVER, .status = 400},
    [SIM_FATE_REFUSED_LATER] = {EVER, SIM_NEVER, .status = 400},
    [SIM_FATE_NEVER] = {EVER, SIM_NEVER, .status = 503},
    [SIM_FATE_PENDING] = {ONCE, SIM_NEVER, .status = 202},
    [SIM_FATE_PENDING_EARLY] = {ONCE, SIM_BEFORE, .status = 202},
    [SIM_FATE_PENDING_LATE] = {ONCE, SIM_NEVER, .status = 202},
    [SIM_FATE_PENDING_DOUBLE] = {ONCE, SIM_NEVER, .status = 202},
    [SIM_FATE_PENDING_MUTE] = {ONCE, SIM_AFTER, .status = 202},
    [SIM_FATE_PENDING_FAILED] = {ONCE, SIM_NEVER, .status = 202},
    [SIM_FATE_FORGED_FAILURE] = {ONCE, SIM_BEFORE, .status = 202},
    [SIM_FATE_FORGED_SUCCESS] = {ONCE, SIM_NEVER, .status = 202},
    [SIM_FATE_TAKEN_BACK] = {ONCE, SIM_NEVER, .status = 202},
    [SIM_FATE_PAID_AFTER_ALL] = {ONCE, SIM_NEVER, .status = 202},
};

// The same kind of answer in its variants. 409 is not among the refusals: to a repeat it may say that one is under way.
static int status_of(enum sim_fate fate, uint64_t variant, uint32_t nth, int status)
{
  static const int gateways[] = {502, 503, 504}, refusals[] = {400, 403, 410, 422}, errors[] = {500, 503, 0};
  switch (fate) {
    case SIM_FATE_UNAVAILABLE: return gateways[variant % ARRAY_LEN(gateways)];
    case SIM_FATE_REFUSED_LATER: return nth == 1 ? 500 : refusals[variant % ARRAY_LEN(refusals)];
    case SIM_FATE_REFUSED: return refusals[variant % ARRAY_LEN(refusals)];
    case SIM_FATE_NEVER: return errors[variant % ARRAY_LEN(errors)];
    default: return status;
  }
}

static bool still_lasts(enum lasting lasting, uint64_t times, uint32_t nth)
{
  return lasting == EVER || nth <= (lasting == SOME ? 1 + times % 2 : 1);
}

// --- patience asked for

static void put_date(char *out, struct wall_time at)
{
  time_t seconds = (time_t)(at.us / 1000000);
  struct tm parts;
  out[0] = '\0';
  if (gmtime_r(&seconds, &parts) != NULL)
    (void)strftime(out, SIM_RETRY_AFTER_BYTES, "%a, %d %b %Y %H:%M:%S GMT", &parts);
}

static void ask_for_patience(enum sim_fate fate, struct wall_time now, struct sim_act *act)
{
  switch (fate) {
    case SIM_FATE_RATE_SECONDS: (void)snprintf(act->retry_after, sizeof act->retry_after, "%d", RATE_AHEAD_S); break;
    case SIM_FATE_RATE_DATE: put_date(act->retry_after, wall_after(now, span_s(RATE_AHEAD_S + 1))); break;
    case SIM_FATE_RATE_PAST: put_date(act->retry_after, wall_after(now, span_s(-3600))); break;
    case SIM_FATE_RATE_NONSENSE: (void)snprintf(act->retry_after, sizeof act->retry_after, "soon"); break;
    case SIM_FATE_RATE_HUGE: (void)snprintf(act->retry_after, sizeof act->retry_after, "99999999"); break;
    default: return;
  }
  act->step.headers[0] = (struct http_header){"Retry-After", act->retry_after};
  act->step.header_count = 1;
}

// --- callbacks

static void add_news(struct sim_act *act, struct span delay, bool failed, int copies, enum sim_sign sign)
{
  REQUIRE(act->news_count < SIM_NEWS_MAX);
  act->is_forged[act->news_count] = sign != SIM_SIGN_GOOD;
  act->news[act->news_count++] = (struct sim_step_callback){
      .wanted = true, .delay = delay, .gap = span_ms(COPY_GAP_MS), .failed = failed, .copies = copies, .sign = sign};
}

static void tell(const struct sim_chaos *c, enum sim_fate fate, struct sim_act *act)
{
  switch (fate) {
    case SIM_FATE_PENDING: add_news(act, c->soon, false, 1, SIM_SIGN_GOOD); break;
    case SIM_FATE_PENDING_EARLY:
      act->step.delay = span_ms(span_to_ms(c->soon) / 2);
      add_news(act, span_ms(0), false, 1, SIM_SIGN_GOOD);
      break;
    case SIM_FATE_PENDING_LATE: add_news(act, c->late, false, 1, SIM_SIGN_GOOD); break;
    case SIM_FATE_PENDING_DOUBLE: add_news(act, c->soon, false, 3, SIM_SIGN_GOOD); break;
    case SIM_FATE_PENDING_FAILED: add_news(act, c->soon, true, 1, SIM_SIGN_GOOD); break;
    case SIM_FATE_FORGED_FAILURE:
      add_news(act, span_ms(0), true, 1, SIM_SIGN_BAD);
      add_news(act, c->soon, true, 2, SIM_SIGN_NONE);
      break;
    case SIM_FATE_FORGED_SUCCESS:
      add_news(act, c->soon, false, 2, SIM_SIGN_BAD);
      add_news(act, c->late, true, 1, SIM_SIGN_GOOD);
      break;
    case SIM_FATE_TAKEN_BACK:
      add_news(act, c->soon, false, 1, SIM_SIGN_GOOD);
      add_news(act, c->late, true, 1, SIM_SIGN_GOOD);
      break;
    case SIM_FATE_PAID_AFTER_ALL:
      add_news(act, c->soon, true, 1, SIM_SIGN_GOOD);
      add_news(act, c->late, false, 1, SIM_SIGN_GOOD);
      break;
    default: break;
  }
}

// --- acts

static void act_begin(const struct sim_chaos *c, const struct meeting *m, struct sim_act *act)
{
  act->step.status = m->status;
  act->step.effect = m->effect;
  act->step.close = m->close;
  if (m->slow) act->step.delay = c->slow;
  if (m->body == NULL) return;
  act->step.body = m->body;
  act->step.body_len = strlen(m->body);
}

bool sim_chaos_credit(const struct sim_chaos *c, const char *user_id, uint32_t nth, struct wall_time now,
                      struct sim_act *out_act)
{
  enum sim_fate fate = sim_chaos_fate(c, user_id);
  const struct meeting *m = &meetings[fate];
  if (fate == SIM_FATE_PLAIN || !still_lasts(m->lasting, lot(c, user_id, LOT_TIMES), nth)) return false;
  *out_act = (struct sim_act){0};
  act_begin(c, m, out_act);
  out_act->step.status = status_of(fate, lot(c, user_id, LOT_VARIANT), nth, m->status);
  if (fate == SIM_FATE_NEVER && out_act->step.status == 0) out_act->step.close = true;
  ask_for_patience(fate, now, out_act);
  tell(c, fate, out_act);
  return true;
}

bool sim_chaos_reversal(const struct sim_chaos *c, const char *user_id, uint32_t nth, struct sim_act *out_act)
{
  static const struct meeting kinds[] = {{ONCE, SIM_BEFORE, 0, .close = true},
                                         {SOME, SIM_NEVER, .status = 500},
                                         {ONCE, SIM_BEFORE, 0, .slow = true},
                                         {SOME, SIM_NEVER, .status = 429},
                                         {ONCE, SIM_BEFORE, .status = 500}};
  uint64_t kind = lot(c, user_id, LOT_REVERSAL) % (2 * ARRAY_LEN(kinds));  // every second one is a quiet one
  if (kind >= ARRAY_LEN(kinds) || !still_lasts(kinds[kind].lasting, lot(c, user_id, LOT_TIMES), nth)) return false;
  *out_act = (struct sim_act){0};
  act_begin(c, &kinds[kind], out_act);
  return true;
}

// --- POST /sim/chaos

static void read_ms(struct jsonx_reader *r, const char *name, struct span *out_span)
{
  int64_t ms = span_to_ms(*out_span);
  jsonx_read_i64(r, name, false, 0, SIM_STEP_DELAY_MAX_MS, &ms);
  *out_span = span_ms(ms);
}

static void read_mix(struct jsonx_reader *top, struct sim_chaos *c)
{
  const json_t *object = jsonx_read_object(top, "mix", false);
  if (object == NULL) return;
  struct jsonx_reader r;
  jsonx_reader_init(&r, object, "mix");
  for (int fate = 0; fate < SIM_FATES; fate++) {
    int64_t weight = 0;
    jsonx_read_i64(&r, fate_names[fate], false, 0, WEIGHT_MAX, &weight);
    c->weights[fate] = (uint32_t)weight;
  }
  if (jsonx_reader_finish(&r) != RESULT_OK) jsonx_reader_fail(top, "mix", r.fault);
}

enum result sim_chaos_parse(const json_t *object, struct sim_chaos *out_chaos, char out_why[JSONX_WHY_BYTES])
{
  struct sim_chaos c = {
      .on = true, .slow = span_ms(DEFAULT_SLOW_MS), .soon = span_ms(DEFAULT_SOON_MS), .late = span_ms(DEFAULT_LATE_MS)};
  struct jsonx_reader r;
  int64_t seed = 0;
  memcpy(c.weights, default_weights, sizeof c.weights);
  jsonx_reader_init(&r, object, "");
  jsonx_read_i64(&r, "seed", true, 0, INT64_MAX, &seed);
  read_mix(&r, &c);
  read_ms(&r, "slowMs", &c.slow);
  read_ms(&r, "callbackMs", &c.soon);
  read_ms(&r, "lateMs", &c.late);
  c.seed = (uint64_t)seed;
  for (int fate = 0; fate < SIM_FATES; fate++) c.total += c.weights[fate];
  if (c.total == 0) jsonx_reader_fail(&r, "mix", "must give some fate a weight");
  if (jsonx_reader_finish(&r) != RESULT_OK) {
    (void)snprintf(out_why, JSONX_WHY_BYTES, "%s", r.fault);
    return RESULT_INVALID;
  }
  *out_chaos = c;
  return RESULT_OK;
}
