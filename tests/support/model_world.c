// SPDX-License-Identifier: Apache-2.0
// The activities of a run, of every kind and with every rule, and what is known of users; see model_run.h.
#include <stdio.h>
#include <string.h>

#include "common/mem.h"
#include "tests/support/model_run.h"

#define MINUTE 60000
#define HOUR   (60 * MINUTE)
#define EPOCH  (20 * 24 * (int64_t)HOUR)  // how long activities share an event and a group

#define REWARD       .kind = MODEL_REWARD, .has_reward = true
#define REGISTRATION .kind = MODEL_REGISTRATION
#define EXCHANGE     .kind = MODEL_EXCHANGE, .has_reward = true
#define NUMBER       .kind = MODEL_NUMBER, .hold = 15 * (int64_t)MINUTE
static const struct model_activity kinds[MODEL_SLOTS] = {
    {.code = "plain", REWARD, .total = 60, .limits = {0, 2, 5}, .channels = 5, .zone_minutes = 480},
    {.code = "crowd", REWARD, .total = MODEL_UNLIMITED, .limits = {4}, .group = 1},
    {.code = "split", REWARD, .total = 40, .segments = 4, .needs_qualification = true},
    {.code = "show", REWARD, .total = 50, .limits = {[MODEL_EVENT] = 3}, .event = 1},
    {.code = "encore", REWARD, .total = 30, .limits = {3, 0, 0, 4, 5}, .event = 1, .zone_minutes = -180},
    {.code = "hall", REGISTRATION, .total = 6, .limits = {2}, .waiting_max = 8, .accept = 10 * MINUTE, .group = 1},
    {.code = "course",
     REGISTRATION,
     .has_reward = true,
     .total = 5,
     .limits = {0, 1},
     .waiting_max = 5,
     .needs_qualification = true,
     .zone_minutes = 330},
    {.code = "once", REGISTRATION, .total = 8, .limits = {1}, .no_second_sign_up = true},
    {.code = "fair",
     REGISTRATION,
     .total = 15,
     .limits = {0, 0, 4, 0, 4},
     .waiting_max = 30,
     .accept = 5 * MINUTE,
     .event = 1},
    {.code = "walk", REGISTRATION, .has_reward = true, .total = 10, .waiting_max = 6, .accept = 20 * MINUTE},
    {.code = "lot",
     NUMBER,
     .has_price = true,
     .number_last = 30,
     .follows_numbers = true,
     .limits = {4, 0, 0, 0, 6},
     .event = 1,
     .late = MODEL_REALLOCATE},
    {.code = "seats",
     NUMBER,
     .has_price = true,
     .has_reward = true,
     .number_last = 30,
     .total = 20,
     .limits = {5},
     .needs_level = true,
     .late = MODEL_REFUND},
    {.code = "raffle",
     NUMBER,
     .has_price = true,
     .number_last = 20,
     .follows_numbers = true,
     .group = 2,
     .late = MODEL_REVIEW},
    {.code = "free", NUMBER, .number_last = 25, .follows_numbers = true, .limits = {3}, .late = MODEL_REALLOCATE},
    {.code = "shop", EXCHANGE, .total = 100, .points_cost = 50, .group = 2},
    {.code = "bar",
     EXCHANGE,
     .total = 200,
     .points_cost = 30,
     .limits = {0, 3, 0, 6},
     .refused_is_review = true,
     .needs_level = true},
};

// --- a fresh activity

static const char *zone_name(int minutes)
{
  return minutes == 480    ? "Asia/Shanghai"
         : minutes == -180 ? "America/Sao_Paulo"
         : minutes == 330  ? "Asia/Kolkata"
                           : "UTC";
}

static void put_limits(struct buf *b, const struct model_activity *a)
{
  bool is_first = true;
  buf_puts(b, ",\"limits\":[");
  for (int p = 0; p < MODEL_PERIODS; p++) {
    if (a->limits[p] == 0) continue;
    buf_printf(b, "%s{\"count\":%d,\"period\":\"%s\"}", is_first ? "" : ",", a->limits[p],
               model_period_name((enum model_period)p));
    is_first = false;
  }
  buf_puts(b, "]");
}

static void put_stock(struct buf *b, const struct model_activity *a)
{
  if (a->follows_numbers) return;
  if (a->total == MODEL_UNLIMITED)
    buf_puts(b, ",\"stock\":{\"total\":null}");
  else
    buf_printf(b, ",\"stock\":{\"total\":%lld,\"segments\":%d}", (long long)a->total,
               a->segments > 1 ? a->segments : 1);
}

static void put_rules(struct buf *b, const struct model_activity *a)
{
  static const char *const late[] = {"reallocate", "refund", "review"};
  if (a->has_reward) buf_puts(b, ",\"rewardCode\":\"gift\"");
  if (a->event > 0) buf_printf(b, ",\"eventCode\":\"e%d\"", a->event);
  if (a->group > 0) buf_printf(b, ",\"exclusiveGroup\":\"g%d\"", a->group);
  if (a->channels > 0) buf_puts(b, ",\"channels\":[\"APP\",\"MINI\"]");
  if (a->needs_qualification) buf_puts(b, ",\"needsQualification\":true");
  if (a->needs_level) buf_puts(b, ",\"eligibility\":\"$.user.level >= 3 && $.request.quantity <= 2\"");
  if (a->points_cost > 0) buf_printf(b, ",\"pointsCost\":%lld", (long long)a->points_cost);
  if (a->refused_is_review) buf_puts(b, ",\"onRefused\":\"review\"");
  if (a->no_second_sign_up) buf_puts(b, ",\"signUpAgain\":false");
  if (a->has_price)
    buf_printf(b,
               ",\"price\":{\"amount\":500,\"currency\":\"CNY\"},\"paymentProvider\":\"bank\",\"holdFor\":\"15m\","
               "\"latePayment\":\"%s\"",
               late[a->late]);
  if (a->waiting_max > 0) {
    buf_printf(b, ",\"waitingList\":{\"max\":%d", a->waiting_max);
    if (a->accept > 0) buf_printf(b, ",\"acceptWithin\":\"%lldm\"", (long long)(a->accept / MINUTE));
    buf_puts(b, "}");
  }
}

static char *activity_doc(const struct model_activity *a)
{
  static const char *const names[] = {"reward", "registration", "number", "exchange"};
  struct buf b;
  buf_init(&b, 8192);
  buf_printf(&b, "{\"code\":\"%s\",\"name\":\"%s\",\"kind\":\"%s\",\"timeZone\":\"%s\"", a->code, a->code,
             names[a->kind], zone_name(a->zone_minutes));
  put_stock(&b, a);
  put_limits(&b, a);
  put_rules(&b, a);
  buf_puts(&b, "}");
  return buf_take(&b);
}

// What the database says to a new activity, or to another configuration of it.
static void put_activity(struct model_run *run, const struct model_activity *a, const char *expected)
{
  char *doc = activity_doc(a);
  char *outcome = sql_text(
      run->sql,
      "select outcome || coalesce(' ' || detail, '') from largesse.activity_put('%s'::jsonb || jsonb_build_object("
      "'startAt', timestamptz '1970-01-01Z' + %lld * interval '1 ms', "
      "'endAt', timestamptz '1970-01-01Z' + %lld * interval '1 ms'), 'test', null)",
      doc, (long long)a->start, (long long)a->end);
  model_expect(run, "configuration", outcome, expected);
  mem_free(outcome);
  mem_free(doc);
}

static void store_activity(struct model_run *run, struct model_activity *a)
{
  if (a->event > 0) sql_exec(run->sql, "select largesse.event_put('e%d', 'event', 'UTC')", a->event);
  put_activity(run, a, "created");
  if (a->number_last > 0)
    sql_exec(run->sql, "select largesse.numbers_add('%s', null, 1, %d, 'test')", a->code, a->number_last);
  char *outcome =
      sql_text(run->sql, "select outcome from largesse.activity_action('%s', 'publish', 'test', null, null)", a->code);
  model_expect(run, "publishing", outcome, "ok");
  mem_free(outcome);
  a->id = sql_int(run->sql, "select id from largesse.activity where code = '%s'", a->code);
}

void model_world_open(struct model_run *run, int slot)
{
  struct model_activity a = kinds[slot];
  int epoch = (int)(run->m.now / EPOCH) % 1000000;
  (void)snprintf(a.code, sizeof a.code, "%s-%zu", kinds[slot].code, run->m.activity_count);
  a.start = run->m.now + (model_chance(run, 30) ? (int64_t)model_random(run, HOUR) : 0);
  a.end = a.start + 24 * HOUR + (int64_t)model_random(run, 9 * 24 * (uint64_t)HOUR);
  if (a.group > 0) a.group += epoch * 10;
  if (a.event > 0) a.event += epoch * 10;
  if (a.follows_numbers) a.total = a.number_last;
  a.is_dirty = true;
  store_activity(run, &a);
  run->slots[slot] = model_add_activity(&run->m, &a);
  model_note(run, "%s is published", a.code);
}

// --- what is known of users, of all or in one activity

static void qualify(struct model_run *run, struct model_activity *a, int user)
{
  char *answer = sql_text(run->sql,
                          "select outcome || inserted from largesse.qualification_import('%s', array[%d, %d], null, "
                          "null, null)",
                          a->code, user, user);
  model_note(run, "%s: user %d qualifies", a->code, user);
  model_expect(run, "import", answer, a->is_qualified[user] ? "ok0" : "ok1");
  a->is_qualified[user] = a->is_dirty = true;
  mem_free(answer);
}

static void block(struct model_run *run, struct model_activity *a, int user)
{
  if (a->is_blocked[user])
    sql_exec(run->sql, "select largesse.blocked_user_delete('%s', %d)", a->code, user);
  else
    sql_exec(run->sql, "select largesse.blocked_user_put('%s', %d, 'test', 'test')", a->code, user);
  a->is_blocked[user] = !a->is_blocked[user];
  model_note(run, "%s: user %d is %s", a->code, user, a->is_blocked[user] ? "blocked" : "served again");
}

static void grant(struct model_run *run, int user)
{
  int64_t amount = 10 + (int64_t)model_random(run, 200);
  int key = run->next_key++;
  struct model_user *u = &run->m.users[user];
  for (int i = 0; i < 2; i++) {
    char expected[64];
    if (i == 0) u->balance += amount;
    char *answer = sql_text(run->sql,
                            "select outcome || ' ' || balance from largesse.points_grant(%d, 'k%d', %lld, 'test', "
                            "'test')",
                            user, key, (long long)amount);
    (void)snprintf(expected, sizeof expected, "%s %lld", i == 0 ? "ok" : "replayed", (long long)u->balance);
    model_note(run, "grant of %lld to user %d: %s", (long long)amount, user, answer);
    model_expect(run, "a grant", answer, expected);
    mem_free(answer);
    if (!model_chance(run, 20)) break;
  }
}

static void set_level(struct model_run *run, int user)
{
  struct model_user *u = &run->m.users[user];
  u->level = 1 + (int)model_random(run, 6);
  sql_exec(run->sql, "select largesse.user_attributes_put(%d, '{\"level\": %d}')", user, u->level);
  model_note(run, "user %d has level %d", user, u->level);
}

static void add_numbers(struct model_run *run, struct model_activity *a)
{
  int count = 1 + (int)model_random(run, 3), last = a->number_last + count, activity = (int)(a - run->m.activities);
  char *answer = sql_text(run->sql, "select outcome || inserted from largesse.numbers_add('%s', null, %d, %d, 'test')",
                          a->code, a->number_last, last);
  model_note(run, "%s: numbers to %d", a->code, last);
  char expected[24];
  (void)snprintf(expected, sizeof expected, "ok%d", count);
  model_expect(run, "more numbers", answer, expected);
  a->number_last = last;
  a->is_dirty = true;
  if (a->follows_numbers) (void)model_adjust(&run->m, activity, count);
  mem_free(answer);
}

// Counts of limits, prices in points and the length of waiting lists may change while claims are made; what was claimed
// stays as it is.
static void reconfigure(struct model_run *run, struct model_activity *a)
{
  struct model_activity old = *a;
  for (int p = 0; p < MODEL_PERIODS; p++)
    if (a->limits[p] > 0 && model_chance(run, 50)) a->limits[p] = 1 + (int)model_random(run, 6);
  if (a->points_cost > 0 && model_chance(run, 50)) a->points_cost = 10 + (int64_t)model_random(run, 60);
  if (a->waiting_max > 0 && model_chance(run, 50)) a->waiting_max = 1 + (int)model_random(run, 20);
  if (a->accept > 0 && model_chance(run, 50)) a->accept = (1 + (int64_t)model_random(run, 20)) * MINUTE;
  if (a->has_price && model_chance(run, 50)) a->late = (enum model_late)model_random(run, 3);
  bool is_changed = a->points_cost != old.points_cost || a->waiting_max != old.waiting_max || a->accept != old.accept ||
                    a->late != old.late || memcmp(a->limits, old.limits, sizeof old.limits) != 0;
  model_note(run, "%s: limits %d %d %d %d %d, costs %lld, waiting list %d", a->code, a->limits[0], a->limits[1],
             a->limits[2], a->limits[3], a->limits[4], (long long)a->points_cost, a->waiting_max);
  put_activity(run, a, is_changed ? "updated" : "unchanged");
}

void model_world_change(struct model_run *run, int activity)
{
  struct model_activity *a = &run->m.activities[activity];
  int user = 1 + (int)model_random(run, MODEL_USERS);
  uint64_t what = model_random(run, 100);
  if (what < 20 && run->m.now < a->end)
    reconfigure(run, a);
  else if (what < 45)
    grant(run, user);
  else if (what < 55)
    set_level(run, user);
  else if (what < 65)
    block(run, a, user);
  else if (a->needs_qualification && run->m.now < a->end)
    qualify(run, a, user);
  else if (a->kind == MODEL_NUMBER && run->m.now < a->end)
    add_numbers(run, a);
  else
    grant(run, user);
}
