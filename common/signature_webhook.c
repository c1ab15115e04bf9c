// SPDX-License-Identifier: Apache-2.0
// Signatures of webhooks with shared secrets: Standard Webhooks and Stripe style; see signature.h.
// Owner: the thread of the context.
#include <inttypes.h>
#include <string.h>

#include "common/limits.h"
#include "common/signature_internal.h"
#include "common/text.h"

#define SIGNATURES_MAX           32            // in one header
#define WEBHOOK_HEADER_BYTES_MAX 64            // "v1," and the base64 of 32 bytes
#define WEBHOOK_HEAD_BYTES_MAX   1024          // "{id}.{timestamp}."
#define STRIPE_HEAD_BYTES_MAX    32            // "{timestamp}."
#define TIMESTAMP_MAX_S          253402300799  // the last second of the year 9999

#define SECRET_BYTES_MIN 24  // what Standard Webhooks asks for
#define SECRET_BYTES_MAX 64

bool signature_webhook_is_whole(const char *secret, size_t len)
{
  const size_t prefix_len = strlen("whsec_");
  if (len < prefix_len || memcmp(secret, "whsec_", prefix_len) != 0) return true;
  struct buf key;
  buf_init(&key, CONF_SECRET_BYTES_MAX);
  bool is_whole = text_from_base64(secret + prefix_len, len - prefix_len, &key) == RESULT_OK &&
                  key.len >= SECRET_BYTES_MIN && key.len <= SECRET_BYTES_MAX;
  buf_wipe(&key);
  return is_whole;
}

// The key of a secret: what "whsec_…" encodes, or else the bytes as they are.
static void secret_key(const char *secret, size_t len, struct buf *out)
{
  static const char prefix[] = "whsec_";
  size_t prefix_len = sizeof prefix - 1;
  buf_init(out, CONF_SECRET_BYTES_MAX);
  if (len > prefix_len && memcmp(secret, prefix, prefix_len) == 0 &&
      text_from_base64(secret + prefix_len, len - prefix_len, out) == RESULT_OK)
    return;
  buf_clear(out);
  buf_append(out, secret, len < CONF_SECRET_BYTES_MAX ? len : CONF_SECRET_BYTES_MAX);
}

// The base64 of the signature of "{id}.{timestamp}.{body}".
static void sign(struct signature *s, const char *secret, size_t secret_len, const struct buf *head, const char *body,
                 size_t body_len, struct buf *out)
{
  struct buf key;
  uint8_t mac[SIGNATURE_SHA256_BYTES];
  secret_key(secret, secret_len, &key);
  signature_hmac_two(s, key.data, key.len, head->data, head->len, body, body_len, mac);
  text_base64(mac, sizeof mac, out);
  buf_release(&key);
}

void signature_webhook_sign(struct signature *s, const char *secret, size_t secret_len, const char *id,
                            int64_t timestamp_s, const char *body, size_t body_len, struct buf *out_header)
{
  struct buf head;
  buf_init(&head, strlen(id) + 32);
  buf_puts(&head, id);
  buf_putc(&head, '.');
  buf_put_i64(&head, timestamp_s);
  buf_putc(&head, '.');
  buf_puts(out_header, "v1,");
  sign(s, secret, secret_len, &head, body, body_len, out_header);
  buf_release(&head);
}

// Is one of the space-separated "v1,<base64>" this one? All are compared, so that time tells nothing.
static bool is_among(const char *signatures, const struct buf *expected)
{
  bool found = false;
  size_t seen = 0;
  for (const char *at = signatures; *at != '\0' && seen < SIGNATURES_MAX; seen++) {
    at += strspn(at, " ");
    size_t len = strcspn(at, " ");
    if (len > 3 && memcmp(at, "v1,", 3) == 0 && text_equals_secret(at + 3, len - 3, expected->data, expected->len))
      found = true;
    at += len;
  }
  return found;
}

bool signature_is_recent(const char *timestamp, struct wall_time now, struct span tolerance)
{
  int64_t seconds;
  if (timestamp == NULL || text_to_i64(timestamp, strlen(timestamp), &seconds) != RESULT_OK) return false;
  if (seconds < 0 || seconds > TIMESTAMP_MAX_S) return false;
  int64_t apart = now.us - seconds * 1000000;
  return apart <= tolerance.us && apart >= -tolerance.us;
}

enum result signature_webhook_verify(struct signature *s, const struct signature_secret *secrets, size_t secret_count,
                                     const char *id, const char *timestamp, const char *signatures, const char *body,
                                     size_t body_len, struct wall_time now, struct span tolerance)
{
  bool found = false;
  struct buf head, expected;
  if (!id || !timestamp || !signatures || strlen(id) > WEBHOOK_HEAD_BYTES_MAX - 32 ||
      !signature_is_recent(timestamp, now, tolerance))
    return RESULT_DENIED;
  buf_init(&head, WEBHOOK_HEAD_BYTES_MAX);
  buf_init(&expected, WEBHOOK_HEADER_BYTES_MAX);
  buf_printf(&head, "%s.%s.", id, timestamp);
  for (size_t i = 0; i < secret_count; i++) {
    if (secrets[i].len == 0) continue;  // anybody can sign with no secret
    buf_clear(&expected);
    sign(s, secrets[i].bytes, secrets[i].len, &head, body, body_len, &expected);
    if (is_among(signatures, &expected)) found = true;
  }
  buf_release(&expected);
  buf_release(&head);
  return found ? RESULT_OK : RESULT_DENIED;
}

// --- Stripe style

static void stripe_mac(struct signature *s, const char *secret, size_t secret_len, const struct buf *head,
                       const char *body, size_t body_len, struct buf *out_hex)
{
  uint8_t mac[SIGNATURE_SHA256_BYTES];
  signature_hmac_two(s, secret, secret_len, head->data, head->len, body, body_len, mac);
  text_hex(mac, sizeof mac, out_hex);
}

void signature_stripe_sign(struct signature *s, const char *secret, size_t secret_len, int64_t timestamp_s,
                           const char *body, size_t body_len, struct buf *out_header)
{
  struct buf head;
  buf_init(&head, STRIPE_HEAD_BYTES_MAX);
  buf_printf(&head, "%" PRId64 ".", timestamp_s);
  buf_printf(out_header, "t=%" PRId64 ",v1=", timestamp_s);
  stripe_mac(s, secret, secret_len, &head, body, body_len, out_header);
  buf_release(&head);
}

// The next "name=value" of a list with commas; false at its end.
static bool next_part(const char **at, const char **out_part, size_t *out_len)
{
  *at += strspn(*at, ", ");
  *out_part = *at;
  *out_len = strcspn(*at, ", ");
  *at += *out_len;
  return *out_len > 0;
}

// "{t}." of the header's only t. Two of them would leave open which one was signed.
static bool stripe_head(const char *header, struct wall_time now, struct span tolerance, struct buf *out)
{
  const char *part = NULL;
  size_t len = 0, found = 0;
  for (const char *at = header; next_part(&at, &part, &len);) {
    if (len < 3 || memcmp(part, "t=", 2) != 0) continue;
    if (found++ == 0) buf_append(out, part + 2, len - 2);
  }
  if (found != 1 || buf_result(out) != RESULT_OK || !signature_is_recent(buf_text(out), now, tolerance)) return false;
  buf_putc(out, '.');
  return buf_result(out) == RESULT_OK;
}

static bool stripe_has(const char *header, const struct buf *expected)
{
  bool found = false;
  const char *part = NULL;
  size_t len = 0, seen = 0;
  for (const char *at = header; seen < SIGNATURES_MAX && next_part(&at, &part, &len); seen++) {
    if (len > 3 && memcmp(part, "v1=", 3) == 0 && text_equals_secret(part + 3, len - 3, expected->data, expected->len))
      found = true;
  }
  return found;
}

enum result signature_stripe_verify(struct signature *s, const struct signature_secret *secrets, size_t secret_count,
                                    const char *header, const char *body, size_t body_len, struct wall_time now,
                                    struct span tolerance)
{
  bool found = false;
  struct buf head, expected;
  buf_init(&head, STRIPE_HEAD_BYTES_MAX);
  buf_init(&expected, 2 * SIGNATURE_SHA256_BYTES);
  if (header != NULL && stripe_head(header, now, tolerance, &head)) {
    for (size_t i = 0; i < secret_count; i++) {
      if (secrets[i].len == 0) continue;  // anybody can sign with no secret
      buf_clear(&expected);
      stripe_mac(s, secrets[i].bytes, secrets[i].len, &head, body, body_len, &expected);
      if (stripe_has(header, &expected)) found = true;
    }
  }
  buf_release(&expected);
  buf_release(&head);
  return found ? RESULT_OK : RESULT_DENIED;
}
