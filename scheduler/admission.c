// SPDX-License-Identifier: Apache-2.0
// Rate limits: token buckets of each user and activity, of each activity, and of all claims together.
// Owner: app; loop thread.
#include "scheduler/admission.h"

#include "common/mem.h"
#include "common/web.h"
#include "scheduler/token.h"

#define USER_BUCKETS_MAX  65536  // about 6 MB; users beyond them begin with a full bucket
#define HEADER_BYTES_MAX  160
#define MICRO             INT64_C(1000000)
#define RETRY_AFTER_S_MAX 86400

struct admission {
  const struct scheduler_conf *conf;
  const struct peers *peers;
  struct token_bucket overall;
  struct token_table *users;
};

// One limit as it stands for a request: its bucket, and this scheduler's part of its terms.
struct stand {
  const char *name;  // in RateLimit headers
  struct token_bucket *bucket;
  struct token_terms terms;
};

// The limits of a request, as many as there are; by enum claim_limit - 1.
static size_t limits_of(struct admission *a, const struct claim_request *r, struct stand out[CLAIM_LIMIT_COUNT - 1])
{
  static const struct rate_limit none = {{0, 0}, {0, 0}};
  const struct rate_limit *l = r->activity ? &r->activity->rate_limit : &none;
  int64_t live = peers_live(a->peers);
  struct token_terms overall = {a->conf->admission.rate * MICRO, a->conf->admission.burst};
  out[0] = (struct stand){"user", NULL, token_share(l->per_user, live)};
  out[1] = (struct stand){"activity", r->activity ? &r->activity->tokens : NULL, token_share(l->total, live)};
  out[2] = (struct stand){"overall", &a->overall, token_share(overall, live)};
  if (l->per_user.rate_micro != 0) out[0].bucket = token_table_get(a->users, r->activity->id, r->user_id);
  return CLAIM_LIMIT_COUNT - 1;
}

static bool is_limiting(const struct stand *s) { return s->terms.rate_micro != 0 && s->bucket != NULL; }

bool admission_admit(struct admission *a, struct claim_request *r)
{
  struct stand limits[CLAIM_LIMIT_COUNT - 1];
  size_t count = limits_of(a, r, limits);
  struct mono_time now = clk_mono();
  struct span longest = {0};
  r->mark.limited_by = CLAIM_NOT_LIMITED;
  for (size_t i = 0; i < count; i++) {
    if (!is_limiting(&limits[i])) continue;
    struct span wait = token_wait(limits[i].bucket, &limits[i].terms, now);
    if (wait.us <= longest.us) continue;
    longest = wait;
    r->mark.limited_by = (enum claim_limit)(i + 1);
  }
  if (r->mark.limited_by != CLAIM_NOT_LIMITED) {
    int64_t seconds = (longest.us + MICRO - 1) / MICRO;
    r->mark.retry_after_s = (int)(seconds < RETRY_AFTER_S_MAX ? seconds : RETRY_AFTER_S_MAX);
    return false;
  }
  for (size_t i = 0; i < count; i++)
    if (is_limiting(&limits[i])) token_spend(limits[i].bucket, &limits[i].terms);
  r->mark.has_token = true;
  return true;
}

// Whether a token was used up: something was judged, and it was not a click that is known already.
static bool is_worth_a_token(const struct claim_answer *a)
{
  return !claim_was_known(a) && a->verdict != VERDICT_OVERLOADED && a->verdict != VERDICT_UNAVAILABLE;
}

static void give_back(struct stand *limits, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (is_limiting(&limits[i])) token_give_back(limits[i].bucket, &limits[i].terms);
}

static int64_t until_next_s(const struct stand *s)
{
  struct token_bucket b = *s->bucket;
  int64_t missing = token_left(&b) >= s->terms.burst ? 0 : MICRO - b.micro % MICRO;
  return (missing + s->terms.rate_micro - 1) / s->terms.rate_micro;
}

// draft-ietf-httpapi-ratelimit-headers: one item per limit. The limit over all activities is the operator's business
// and named only where it is the reason.
static void put_headers(struct web_request *web, const struct stand *limits, size_t count, enum claim_limit limited_by)
{
  struct buf policy, limit;
  buf_init(&policy, HEADER_BYTES_MAX);
  buf_init(&limit, HEADER_BYTES_MAX);
  for (size_t i = 0; i < count; i++) {
    const struct stand *s = &limits[i];
    if (!is_limiting(s) || (i + 1 == CLAIM_LIMITED_OVERALL && limited_by != CLAIM_LIMITED_OVERALL)) continue;
    const char *gap = policy.len > 0 ? ", " : "";
    buf_printf(&policy, "%s\"%s\";q=%lld;w=%lld", gap, s->name, (long long)s->terms.burst,
               (long long)token_window_s(&s->terms));
    buf_printf(&limit, "%s\"%s\";r=%lld;t=%lld", gap, s->name, (long long)token_left(s->bucket),
               (long long)until_next_s(s));
  }
  if (policy.len > 0 && buf_result(&policy) == RESULT_OK && buf_result(&limit) == RESULT_OK) {
    web_reply_header(web, "RateLimit-Policy", buf_text(&policy));
    web_reply_header(web, "RateLimit", buf_text(&limit));
  }
  buf_release(&policy);
  buf_release(&limit);
}

void admission_answered(struct admission *a, const struct claim_request *r, const struct claim_answer *answer)
{
  enum verdict v = answer->verdict;
  bool is_told = r->activity != NULL && rate_limit_is_set(&r->activity->rate_limit);
  if (!is_told && !r->mark.has_token && v != VERDICT_RATE_LIMITED) return;
  struct stand limits[CLAIM_LIMIT_COUNT - 1];
  size_t count = limits_of(a, r, limits);
  if (r->mark.has_token && !is_worth_a_token(answer)) give_back(limits, count);
  enum claim_limit limited_by = v == VERDICT_RATE_LIMITED ? r->mark.limited_by : CLAIM_NOT_LIMITED;
  if (is_told || limited_by != CLAIM_NOT_LIMITED) put_headers(r->web, limits, count, limited_by);
}

const char *admission_rule(const struct claim_request *r)
{
  switch (r->mark.limited_by) {
    case CLAIM_LIMITED_USER: return "rateLimit.perUser";
    case CLAIM_LIMITED_ACTIVITY: return "rateLimit.total";
    case CLAIM_LIMITED_OVERALL: return "rateLimit.overall";
    case CLAIM_NOT_LIMITED: break;
  }
  return NULL;
}

void admission_explain(struct admission *a, const struct claim_request *r, struct buf *out)
{
  struct stand limits[CLAIM_LIMIT_COUNT - 1];
  if (r->mark.limited_by == CLAIM_NOT_LIMITED) return;
  (void)limits_of(a, r, limits);
  const struct stand *s = &limits[r->mark.limited_by - 1];
  buf_printf(out, "\"limit\":%lld,\"window\":%lld,\"violated-policies\":[\"%s\"]", (long long)s->terms.burst,
             (long long)token_window_s(&s->terms), s->name);
}

struct admission *admission_new(const struct scheduler_conf *conf, const struct peers *peers)
{
  struct admission *a = MEM_NEW(struct admission);
  a->conf = conf;
  a->peers = peers;
  a->users = token_table_new(USER_BUCKETS_MAX);
  return a;
}

void admission_free(struct admission *a)
{
  if (!a) return;
  token_table_free(a->users);
  mem_free(a);
}
