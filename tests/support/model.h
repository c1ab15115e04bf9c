// SPDX-License-Identifier: Apache-2.0
// The rules about claims in memory, written from the requirements and not from the SQL: what a claim is answered, and
// what every later move makes of it, over all kinds of activity. Whatever can be derived from the claims is derived
// from them by looking at all; there are no counters to go wrong. Pure but for its own memory; one thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_USERS       24
#define MODEL_NUMBERS_MAX 4  // in one claim
#define MODEL_UNLIMITED   INT64_MAX

enum model_kind { MODEL_REWARD, MODEL_REGISTRATION, MODEL_NUMBER, MODEL_EXCHANGE };
enum model_period { MODEL_TOTAL, MODEL_DAY, MODEL_WEEK, MODEL_MONTH, MODEL_EVENT, MODEL_PERIODS };
enum model_late { MODEL_REALLOCATE, MODEL_REFUND, MODEL_REVIEW };
enum model_status {
  MODEL_WAITING,
  MODEL_OFFERED,
  MODEL_HELD,
  MODEL_ISSUING,
  MODEL_SUCCEEDED,
  MODEL_CANCELLED,
  MODEL_EXPIRED,
  MODEL_FAILED,
  MODEL_ROLLED_BACK
};
enum model_step {
  MODEL_NOTHING,
  MODEL_DELIVER,
  MODEL_INQUIRE,
  MODEL_CHARGE,
  MODEL_INQUIRE_CHARGE,
  MODEL_PAY_BACK,
  MODEL_INQUIRE_PAY_BACK,
  MODEL_REVERSE,
  MODEL_INQUIRE_REVERSE
};
enum model_money { MODEL_NO_MONEY, MODEL_OPEN, MODEL_NOT_PAID, MODEL_PAID, MODEL_VOID, MODEL_CLOSED };
enum model_debt { MODEL_NO_DEBT, MODEL_OWED, MODEL_SETTLED };  // of refunds and reversals
enum model_outcome { MODEL_DONE, MODEL_REFUSED, MODEL_RETRY, MODEL_PENDING, MODEL_UNKNOWN };

struct model_request {
  int biz, user, quantity;
  int channel;                     // -1: none
  int numbers[MODEL_NUMBERS_MAX];  // ascending
  int number_count;
};

struct model_claim {
  int activity;
  int64_t id;
  struct model_request request;
  enum model_status status;
  enum model_step step, doing;  // what is next; of a call under way, what it does
  bool in_flight, heard_pending, is_under_review;
  int64_t attempt;  // of the call under way
  enum model_money money;
  enum model_debt refund, reversal;
  int64_t created, deadline, place;  // place: in the waiting list
  int64_t points;
};

struct model_activity {
  int64_t id;  // in the database
  char code[32];
  enum model_kind kind;
  enum model_late late;
  bool has_reward, has_price, needs_qualification, refused_is_review, no_second_sign_up, needs_level, follows_numbers;
  int64_t start, end, hold, accept;  // accept 0: nothing to accept
  int waiting_max, channels;         // channels: bits; 0: all
  int limits[MODEL_PERIODS];         // 0: none
  int group, event;                  // 0: none
  int zone_minutes, segments, number_last;
  int64_t points_cost, total;  // total: with adjustments
  bool is_paused, is_finished, is_dirty;
  bool is_qualified[MODEL_USERS + 1], is_blocked[MODEL_USERS + 1];
  int *claims;
  size_t claim_count, claim_room;
};

struct model_user {
  int64_t balance;
  int level;  // 0: none known
};

struct model {
  int64_t now;  // milliseconds since 1970
  int64_t places;
  struct model_activity *activities;
  size_t activity_count, activity_room;
  struct model_claim *claims;
  size_t claim_count, claim_room;
  struct model_user users[MODEL_USERS + 1];
};

struct model_verdict {
  const char *code;  // of the contract; ACCEPTED, REPLAYED
  enum model_status status;
  int claim;                 // of a replay or a duplicate sign-up, else -1
  enum model_period period;  // of LIMIT_REACHED
};

struct model_figures {
  int64_t total, issued, held, remaining, waiting;  // total, remaining: MODEL_UNLIMITED
};

void model_release(struct model *m);
int model_add_activity(struct model *m, const struct model_activity *a);

// --- what is so (model.c)

bool model_is_live(enum model_status status);  // waits, or holds stock
bool model_holds(enum model_status status);
struct model_figures model_figures(const struct model *m, int activity);
int64_t model_used(const struct model *m, int activity, int user, enum model_period period, int64_t at);
int64_t model_period_start(const struct model_activity *a, enum model_period period, int64_t at);  // day since 1970
int model_owner(const struct model *m, int activity, int number);                                  // claim or -1
int model_first_waiting(const struct model *m, int activity);                                      // claim or -1
bool model_is_open(const struct model *m, const struct model_activity *a);
struct model_verdict model_judge(const struct model *m, int activity, const struct model_request *r);
bool model_fits_limits(const struct model *m, int activity, const struct model_claim *c);
bool model_excluded(const struct model *m, int activity, int user);

// --- what happens (model_moves.c)

// Writes an accepted claim down; returns its index.
int model_accept_claim(struct model *m, int activity, const struct model_request *r, enum model_status status);
void model_move(struct model *m, int claim, enum model_status to);  // with all that follows; whoever waits moves up
int model_promote(struct model *m, int activity);
bool model_is_due(const struct model *m, int activity);
// One step of it: what was kept too long ends, or a waiting list whose activity is over, or free places are given.
void model_expire_due(struct model *m, int activity);
void model_touch(struct model *m, int claim);  // expires first what was kept too long
// False: the state does not allow it.
bool model_cancel(struct model *m, int claim);
bool model_take_place(struct model *m, int claim);
bool model_reverse(struct model *m, int claim);
bool model_adjust(struct model *m, int activity, int64_t by);

// --- what providers say (model_news.c)

bool model_can_take(const struct model *m, int claim);
void model_take(struct model *m, int claim, int64_t attempt);
void model_settle(struct model *m, int claim, enum model_outcome outcome);
// Whether the order of what is being asked about may be closed instead; and what came of that.
bool model_can_close(const struct model *m, int claim);
void model_close(struct model *m, int claim, enum model_outcome outcome);
void model_told_paid(struct model *m, int claim);
void model_told_not_paid(struct model *m, int claim);  // by a callback
