// SPDX-License-Identifier: Apache-2.0
// The profiles as configured, as text and JSON. Pure; any thread.
#include "fulfiller/provider_listing.h"

#include "common/text.h"

static void put_spans(struct buf *out, const struct conf_spans *spans, const char *between, const char *quote)
{
  for (size_t i = 0; i < spans->count; i++) {
    buf_printf(out, "%s%s", i == 0 ? "" : between, quote);
    text_from_span(spans->items[i], out);
    buf_puts(out, quote);
  }
}

static void put_json_member(struct buf *out, const char *name, const char *value)
{
  buf_printf(out, "%s\"%s\":", out->data[out->len - 1] == '{' ? "" : ",", name);
  buf_put_json(out, value, strlen(value));
}

static void put_json(struct buf *out, const struct provider *p)
{
  buf_putc(out, '{');
  put_json_member(out, "name", p->name);
  put_json_member(out, "baseUrl", p->conf->base_url);
  buf_printf(out, ",\"inquiry\":%s,\"repeatIsSafe\":%s,\"concurrency\":%lld,\"attempts\":%lld,\"ladder\":[",
             p->actions[ACTION_DELIVER].inquire.exists ? "true" : "false",
             p->actions[ACTION_DELIVER].repeat_is_safe ? "true" : "false", (long long)p->conf->concurrency,
             (long long)p->conf->attempts);
  put_spans(out, &p->conf->ladder, ",", "\"");
  buf_puts(out, "],\"totalTimeout\":\"");
  text_from_span(p->conf->total_timeout, out);
  buf_puts(out, "\",\"lease\":\"");
  text_from_span(p->lease, out);
  buf_puts(out, "\"}");
}

static void put_text(struct buf *out, const struct provider *p)
{
  struct buf ladder;
  buf_init(&ladder, 4096);
  put_spans(&ladder, &p->conf->ladder, " ", "");
  buf_printf(out, "%-24s %-36s inquiry=%-3s repeat=%-3s concurrency=%-5lld attempts=%-3lld ladder: %s\n", p->name,
             p->conf->base_url, p->actions[ACTION_DELIVER].inquire.exists ? "yes" : "no",
             p->actions[ACTION_DELIVER].repeat_is_safe ? "yes" : "no", (long long)p->conf->concurrency,
             (long long)p->conf->attempts, buf_text(&ladder));
  buf_release(&ladder);
}

enum result provider_listing(const struct fulfiller_conf *conf, bool is_json, struct buf *out, struct conf_fault *fault)
{
  if (is_json) buf_puts(out, "{\"items\":[");
  for (size_t i = 0; i < conf->providers.count; i++) {
    struct provider p;
    enum result result = provider_compile(conf->providers.items[i].name, conf->providers.items[i].block, &p, fault);
    if (result != RESULT_OK) return result;
    if (is_json && i > 0) buf_putc(out, ',');
    if (is_json)
      put_json(out, &p);
    else
      put_text(out, &p);
    provider_release(&p);
  }
  if (is_json) buf_puts(out, "],\"next\":null}\n");
  return buf_result(out);
}
