// SPDX-License-Identifier: Apache-2.0
// Counting and reporting of a load run. Pure; any thread.
#include "tests/bench/load/tally.h"

#include <inttypes.h>
#include <string.h>

void tally_name(struct tally_names *names, const char *name, size_t len)
{
  if (len >= TALLY_NAME_BYTES) len = TALLY_NAME_BYTES - 1;
  for (size_t i = 0; i < names->count; i++) {
    if (names->items[i].len == len && memcmp(names->items[i].name, name, len) == 0) {
      names->items[i].count++;
      return;
    }
  }
  if (names->count == TALLY_NAMES_MAX - 1) name = "OTHER", len = 5;
  if (names->count == TALLY_NAMES_MAX) {
    names->items[TALLY_NAMES_MAX - 1].count++;
    return;
  }
  memcpy(names->items[names->count].name, name, len);
  names->items[names->count].len = len;
  names->items[names->count++].count = 1;
}

// Values below the number of sub-buckets are exact; above, each power of two has as many buckets again, halved.
static size_t bucket_of(uint64_t us)
{
  if (us < TALLY_SUB_BUCKETS) return (size_t)us;
  unsigned shift = 63u - (unsigned)__builtin_clzll(us) - 5u;  // leaves 6 significant bits: 32 … 63
  size_t bucket = (size_t)shift * (TALLY_SUB_BUCKETS / 2) + (size_t)(us >> shift);
  return bucket < TALLY_BUCKETS ? bucket : TALLY_BUCKETS - 1;
}

static int64_t bucket_top_us(size_t bucket)
{
  if (bucket < TALLY_SUB_BUCKETS) return (int64_t)bucket;
  size_t shift = bucket / (TALLY_SUB_BUCKETS / 2) - 1;
  uint64_t lead = bucket - shift * (TALLY_SUB_BUCKETS / 2);
  return (int64_t)(((lead + 1) << shift) - 1);
}

void tally_latency(struct tally *t, struct span latency)
{
  int64_t us = latency.us < 0 ? 0 : latency.us;
  t->latency[bucket_of((uint64_t)us)]++;
  t->latency_count++;
  t->latency_sum_us += us;
  if (us > t->latency_max_us) t->latency_max_us = us;
}

int64_t tally_percentile_us(const struct tally *t, double share)
{
  uint64_t wanted = (uint64_t)((double)t->latency_count * share), seen = 0;
  for (size_t b = 0; b < TALLY_BUCKETS; b++) {
    seen += t->latency[b];
    if (seen > wanted || (seen == t->latency_count && seen > 0)) {
      int64_t top = bucket_top_us(b);
      return top < t->latency_max_us ? top : t->latency_max_us;
    }
  }
  return 0;
}

static double per_second(const struct tally *t, uint64_t count)
{
  return t->elapsed.us > 0 ? (double)count / span_to_seconds(t->elapsed) : 0;
}

static double mean_ms(const struct tally *t)
{
  return t->latency_count == 0 ? 0 : (double)t->latency_sum_us / (double)t->latency_count / 1000;
}

static double percentile_ms(const struct tally *t, double share)
{
  return (double)tally_percentile_us(t, share) / 1000;
}

static void names_text(const struct tally_names *names, const char *title, struct buf *out)
{
  for (size_t i = 0; i < names->count; i++) {
    buf_printf(out, "  %-9s %9" PRIu64 "  %s\n", title, names->items[i].count, names->items[i].name);
  }
}

void tally_write_text(const struct tally *t, struct buf *out)
{
  buf_printf(out, "%.2f s, %" PRIu64 " clicks, %" PRIu64 " requests\n", span_to_seconds(t->elapsed), t->clicks,
             t->sent);
  buf_printf(out, "  accepted  %9" PRIu64 "  %.1f/s", t->accepted, per_second(t, t->accepted));
  if (t->recovered > 0) buf_printf(out, "  (%" PRIu64 " by repeating)", t->recovered);
  buf_printf(out, "\n  replays   %9" PRIu64 "\n  refused   %9" PRIu64 "  %.1f/s\n", t->replays, t->refused,
             per_second(t, t->refused));
  names_text(&t->codes, "", out);
  if (t->repeats > 0) buf_printf(out, "  repeated  %9" PRIu64 "\n", t->repeats);
  names_text(&t->repeat_causes, "", out);
  names_text(&t->errors, "error", out);
  if (t->unanswered > 0) buf_printf(out, "  unanswered %8" PRIu64 "\n", t->unanswered);
  buf_printf(out, "  answer in ms: p50 %.2f  p90 %.2f  p99 %.2f  p99.9 %.2f  max %.2f  mean %.2f\n",
             percentile_ms(t, 0.5), percentile_ms(t, 0.9), percentile_ms(t, 0.99), percentile_ms(t, 0.999),
             (double)t->latency_max_us / 1000, mean_ms(t));
}

static void names_json(const struct tally_names *names, const char *key, struct buf *out)
{
  buf_printf(out, ",\"%s\":{", key);
  for (size_t i = 0; i < names->count; i++) {
    if (i > 0) buf_putc(out, ',');
    buf_put_json(out, names->items[i].name, names->items[i].len);
    buf_printf(out, ":%" PRIu64, names->items[i].count);
  }
  buf_putc(out, '}');
}

void tally_write_json(const struct tally *t, struct buf *out)
{
  uint64_t answered = t->accepted + t->replays + t->refused;
  buf_printf(out,
             "{\"seconds\":%.3f,\"clicks\":%" PRIu64 ",\"requests\":%" PRIu64 ",\"accepted\":%" PRIu64
             ",\"acceptedPerSecond\":%.1f"
             ",\"answered\":%" PRIu64 ",\"answeredPerSecond\":%.1f,\"recovered\":%" PRIu64 ",\"replays\":%" PRIu64
             ",\"refusedTotal\":%" PRIu64 ",\"repeats\":%" PRIu64 ",\"unanswered\":%" PRIu64,
             span_to_seconds(t->elapsed), t->clicks, t->sent, t->accepted, per_second(t, t->accepted), answered,
             per_second(t, answered), t->recovered, t->replays, t->refused, t->repeats, t->unanswered);
  names_json(&t->codes, "refused", out);
  names_json(&t->repeat_causes, "repeatCauses", out);
  names_json(&t->errors, "errors", out);
  buf_printf(out, ",\"latencyMs\":{\"p50\":%.3f,\"p90\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f,\"mean\":%.3f}}\n",
             percentile_ms(t, 0.5), percentile_ms(t, 0.9), percentile_ms(t, 0.99), percentile_ms(t, 0.999),
             (double)t->latency_max_us / 1000, mean_ms(t));
}
