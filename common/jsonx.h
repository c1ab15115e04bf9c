// SPDX-License-Identifier: Apache-2.0
// Strict JSON on top of jansson, and a checked way to take an object apart: every member is named, typed and bounded,
// what is left over is an error. Pure; any thread.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buf.h"
#include "common/clk.h"
#include "common/result.h"

// Duplicate keys, NUL, invalid UTF-8, depth over JSON_DEPTH_MAX, trailing bytes, a bare scalar: RESULT_INVALID, and
// out_why (may be NULL) holds one line such as "line 3 column 7: duplicate object key". The caller owns *out_json.
#define JSONX_WHY_BYTES 200
MUST_CHECK enum result jsonx_parse(const char *bytes, size_t len, json_t **out_json, char out_why[JSONX_WHY_BYTES]);
void jsonx_write(const json_t *json, struct buf *out);  // compact; object keys keep their order

// Reads the members of one object. The first fault is kept (path and reason); later calls then do nothing.
struct jsonx_reader {
  const json_t *object;
  const char *path;   // "" at the top, "stock" below; for messages
  char seen[64][68];  // names asked for so far, to find unknown ones
  size_t seen_count;
  char fault[JSONX_WHY_BYTES];  // "" while all is well; else such as "stock.total: must be an integer of at least 0"
};
void jsonx_reader_init(struct jsonx_reader *r, const json_t *object, const char *path);
// required: false leaves *out_ untouched when the member is missing. JSON null is a wrong type.
const char *jsonx_read_text(struct jsonx_reader *r, const char *name, bool required,
                            size_t max_chars);  // NULL if missing or faulty
void jsonx_read_i64(struct jsonx_reader *r, const char *name, bool required, int64_t min, int64_t max, int64_t *out);
void jsonx_read_id(struct jsonx_reader *r, const char *name, bool required,
                   int64_t *out);  // number or decimal string, 1..2^63-1
void jsonx_read_bool(struct jsonx_reader *r, const char *name, bool required, bool *out);
void jsonx_read_time(struct jsonx_reader *r, const char *name, bool required, struct wall_time *out);
void jsonx_read_span(struct jsonx_reader *r, const char *name, bool required, struct span *out);
const json_t *jsonx_read_object(struct jsonx_reader *r, const char *name, bool required);
const json_t *jsonx_read_array(struct jsonx_reader *r, const char *name, bool required);
bool jsonx_has(struct jsonx_reader *r, const char *name);                              // marks the name as known
void jsonx_reader_fail(struct jsonx_reader *r, const char *name, const char *reason);  // a rule of the caller's own
// Unknown members are a fault. RESULT_OK or RESULT_INVALID; r->fault tells.
MUST_CHECK enum result jsonx_reader_finish(struct jsonx_reader *r);
// Finishes the reader of an object inside; its fault becomes that of the whole.
void jsonx_reader_join(struct jsonx_reader *whole, struct jsonx_reader *inner);
// The value at a JSON pointer (RFC 6901), or NULL.
const json_t *jsonx_pointer(const json_t *root, const char *pointer);
