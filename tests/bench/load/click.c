// SPDX-License-Identifier: Apache-2.0
// Clicks and their requests. Pure; any thread.
#include "tests/bench/load/click.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// SplitMix64: a good mixer, so click n needs no generator state.
static uint64_t mix(uint64_t seed, uint64_t n)
{
  uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

static size_t put_digits(char *at, uint64_t value)
{
  char digits[20];
  size_t n = 0;
  do {
    digits[n++] = (char)('0' + value % 10);
    value /= 10;
  } while (value > 0);
  for (size_t i = 0; i < n; i++) at[i] = digits[n - 1 - i];
  return n;
}

void click_make(const struct click_plan *plan, uint64_t number, struct click *out_click)
{
  uint64_t random = mix(plan->seed, number);
  out_click->number = number;
  out_click->activity = plan->activities[number % plan->activity_count];
  out_click->user = plan->user_first + (plan->users_sequential ? number : random) % plan->user_count;
  out_click->quantity = plan->quantity_min;
  if (plan->quantity_max > plan->quantity_min) {
    uint64_t span = (uint64_t)(plan->quantity_max - plan->quantity_min) + 1;
    out_click->quantity += (int64_t)(mix(plan->seed ^ UINT64_C(0x5155414e54495459), number) % span);
  }
  size_t len = strlen(plan->biz_prefix);  // the options keep it short enough for 20 digits
  memcpy(out_click->biz_id, plan->biz_prefix, len);
  len += put_digits(out_click->biz_id + len, number);
  out_click->biz_id[len] = '\0';
}

void click_render_head(const struct click_plan *plan, const char *host, const char *extra_headers, struct buf *out)
{
  buf_clear(out);
  buf_printf(out, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n%sContent-Length: ",
             plan->credits ? "/credits" : "/v1/claims", host, extra_headers);
}

static void render_body(const struct click_plan *plan, const struct click *click, struct buf *out)
{
  buf_puts(out, plan->credits ? "{\"rewardCode\":\"" : "{\"activityCode\":\"");
  buf_puts(out, click->activity);
  buf_puts(out, "\",\"userId\":\"");
  buf_put_u64(out, click->user);
  buf_puts(out, plan->credits ? "\",\"amount\":100,\"currency\":\"CNY\",\"requestId\":\"" : "\",\"bizId\":\"");
  buf_puts(out, click->biz_id);
  buf_putc(out, '"');
  if (click->quantity > 0) {
    buf_puts(out, ",\"quantity\":");
    buf_put_i64(out, click->quantity);
  }
  if (plan->has_numbers) {
    buf_puts(out, ",\"numbers\":[");
    buf_put_u64(out, plan->number_first + click->number % (plan->number_last - plan->number_first + 1));
    buf_putc(out, ']');
  }
  if (plan->channel != NULL) {
    buf_puts(out, ",\"channel\":\"");
    buf_puts(out, plan->channel);
    buf_putc(out, '"');
  }
  buf_putc(out, '}');
}

// The length stands before the body, so it is written as three digits with leading zeros, which HTTP allows, and filled
// in last.
void click_render(const struct click_plan *plan, const struct buf *head, const struct click *click, struct buf *out)
{
  buf_clear(out);
  buf_append(out, head->data, head->len);
  size_t length_at = out->len;
  buf_puts(out, "000\r\n\r\n");
  size_t body_at = out->len;
  render_body(plan, click, out);
  size_t length = out->len - body_at;
  for (size_t i = 3; i > 0; i--, length /= 10) out->data[length_at + i - 1] = (char)('0' + length % 10);
}
