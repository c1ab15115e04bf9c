// SPDX-License-Identifier: Apache-2.0
// Parsing of small texts from outside: numbers, UTF-8, codes, times, durations, sizes, base64, hex, URLs.
// Everything is strict: no leading or trailing junk, no wrap-around, the whole length is used. Pure; any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/result.h"

// Canonical decimals only: "0", "17", "-3"; not "+3", "03", " 3", "3.0", "1e2". RESULT_INVALID when out of range.
MUST_CHECK enum result text_to_i64(const char *bytes, size_t len, int64_t *out_value);
MUST_CHECK enum result text_to_u64(const char *bytes, size_t len, uint64_t *out_value);
MUST_CHECK enum result text_to_i32(const char *bytes, size_t len, int32_t *out_value);

// Valid UTF-8 (no surrogates, no overlong forms) without NUL.
bool text_is_utf8(const char *bytes, size_t len);
// Number of code points of valid UTF-8.
size_t text_utf8_length(const char *bytes, size_t len);
// A code of an activity, reward or event: [A-Za-z0-9][A-Za-z0-9._-]{0,63}
// Two numbers such as 683000001-17, none negative. RESULT_NOT_FOUND: the first alone.
MUST_CHECK enum result text_to_pair(const char *text, int64_t *out_first, int64_t *out_second);
bool text_is_code(const char *bytes, size_t len);
// An idempotency key: [A-Za-z0-9._:-]{1,64}
bool text_is_biz_id(const char *bytes, size_t len);

// RFC 3339 with a mandatory offset ("Z" or "+08:00"), up to 6 fraction digits; a date that does not exist is invalid
// (2027-02-29), so is a leap second. Years 1970 to 9999.
MUST_CHECK enum result text_to_time(const char *bytes, size_t len, struct wall_time *out_time);
// "2026-11-29T12:00:00.123456Z", always UTC and six digits. 28 bytes with NUL.
#define TEXT_TIME_BYTES 28
void text_from_time(struct wall_time t, char out_text[TEXT_TIME_BYTES]);
// An HTTP date in any of the three forms of RFC 9110, as in Retry-After. now: for years of two digits.
MUST_CHECK enum result text_to_http_date(const char *bytes, size_t len, struct wall_time now,
                                         struct wall_time *out_time);
// "10us", "250ms", "5s", "15m", "2h", "1d": an integer that is not negative, and a unit. A bare number is
// RESULT_INVALID ("0" excepted).
MUST_CHECK enum result text_to_span(const char *bytes, size_t len, struct span *out_span);
// The shortest exact form of the same ("90s", "15m").
void text_from_span(struct span s, struct buf *out);
// "64KiB", "1MiB", "512B". A bare number is RESULT_INVALID.
MUST_CHECK enum result text_to_size(const char *bytes, size_t len, uint64_t *out_bytes);

void text_base64(const void *bytes, size_t len, struct buf *out);                        // with padding
MUST_CHECK enum result text_from_base64(const char *text, size_t len, struct buf *out);  // padding required
void text_hex(const void *bytes, size_t len, struct buf *out);                           // lower case
MUST_CHECK enum result text_from_hex(const char *text, size_t len, struct buf *out);
void text_url_encode(const char *bytes, size_t len, struct buf *out);  // RFC 3986 unreserved kept
// A NUL, also as %00, is RESULT_INVALID; whether the rest is UTF-8 is for the caller to ask.
MUST_CHECK enum result text_url_decode(const char *text, size_t len, bool plus_is_space, struct buf *out);
// Time-independent comparison of secrets.
bool text_equals_secret(const char *a, size_t a_len, const char *b, size_t b_len);
