// SPDX-License-Identifier: Apache-2.0
// Arguments of a statement: scalars as text, so that the statement's own casts decide; arrays in PostgreSQL's binary
// form. Owner: the caller of a request. Pure; any thread.
#include <endian.h>
#include <string.h>

#include "common/contract.h"
#include "common/db_internal.h"
#include "common/text.h"

// Types as they stand in pg_type; they have not changed since PostgreSQL 7.
static const uint32_t element_oid[] = {
    [DB_ARRAY_BOOL] = 16, [DB_ARRAY_INT4] = 23,          [DB_ARRAY_INT8] = 20,
    [DB_ARRAY_TEXT] = 25, [DB_ARRAY_TIMESTAMPTZ] = 1184,
};
static const int64_t postgres_epoch_us = 946684800000000;  // 2000-01-01T00:00:00Z

void db_args_init(struct db_args *a)
{
  *a = (struct db_args){.array_count = -1};
  buf_init(&a->bytes, DB_ARGS_BYTES_MAX);
}

void db_args_clear(struct db_args *a)
{
  buf_clear(&a->bytes);
  a->count = 0;
  a->array_at = 0;
  a->array_count = -1;
}

void db_args_release(struct db_args *a) { buf_release(&a->bytes); }

static struct db_arg *next_arg(struct db_args *a)
{
  REQUIRE(a->count < DB_ARGS_MAX);
  struct db_arg *arg = &a->items[a->count++];
  *arg = (struct db_arg){.at = a->bytes.len};
  return arg;
}

void db_args_null(struct db_args *a) { next_arg(a)->is_null = true; }

void db_args_text(struct db_args *a, const char *text)
{
  if (text == NULL)
    db_args_null(a);
  else
    db_args_bytes(a, text, strlen(text));
}

// libpq takes text parameters as strings: a NUL inside would cut the text short, so the server must never see such a
// value.
void db_args_bytes(struct db_args *a, const char *bytes, size_t len)
{
  REQUIRE(len == 0 || memchr(bytes, '\0', len) == NULL);
  struct db_arg *arg = next_arg(a);
  arg->len = len;
  buf_append(&a->bytes, bytes, len);
  buf_putc(&a->bytes, '\0');
}

void db_args_binary(struct db_args *a, const void *bytes, size_t len)
{
  struct db_arg *arg = next_arg(a);
  arg->len = len;
  arg->is_binary = true;
  buf_append(&a->bytes, bytes, len);
  if (len == 0) buf_putc(&a->bytes, '\0');  // an empty value still needs an address
}

void db_args_i64(struct db_args *a, int64_t value)
{
  struct db_arg *arg = next_arg(a);
  buf_put_i64(&a->bytes, value);
  arg->len = a->bytes.len - arg->at;
  buf_putc(&a->bytes, '\0');
}

void db_args_bool(struct db_args *a, bool value) { db_args_text(a, value ? "t" : "f"); }

void db_args_time(struct db_args *a, struct wall_time t)
{
  char text[TEXT_TIME_BYTES];
  text_from_time(t, text);
  db_args_text(a, text);
}

// The wire form: dimensions, "has nulls", element type, then per dimension its length and lower bound, then the
// elements. An empty array has no dimensions at all, so the first element brings the second part.
void db_args_array(struct db_args *a, enum db_array_type type)
{
  struct db_arg *arg = next_arg(a);
  arg->is_binary = true;
  a->array_at = arg->at;
  a->array_count = 0;
  a->array_type = type;
  a->array_has_null = false;
  uint32_t header[3] = {0, 0, htobe32(element_oid[type])};
  buf_append(&a->bytes, header, sizeof header);
}

static void begin_element(struct db_args *a)
{
  REQUIRE(a->array_count >= 0 && a->array_count < INT32_MAX);
  if (a->array_count == 0) buf_append(&a->bytes, (const uint32_t[2]){0, htobe32(1)}, 2 * sizeof(uint32_t));
  a->array_count++;
}

struct wide_element {
  uint32_t len, high, low;
};  // no padding: eight bytes that need not be aligned

static void put_wide(struct db_args *a, int64_t value)
{
  uint64_t bits = (uint64_t)value;
  struct wide_element e = {htobe32(8), htobe32((uint32_t)(bits >> 32)), htobe32((uint32_t)bits)};
  buf_append(&a->bytes, &e, sizeof e);
}

void db_args_array_i64(struct db_args *a, int64_t value)
{
  REQUIRE(a->array_type == DB_ARRAY_INT8 || a->array_type == DB_ARRAY_INT4 || a->array_type == DB_ARRAY_BOOL);
  begin_element(a);
  if (a->array_type == DB_ARRAY_INT8) {
    put_wide(a, value);
  } else if (a->array_type == DB_ARRAY_INT4) {
    REQUIRE(value >= INT32_MIN && value <= INT32_MAX);
    buf_append(&a->bytes, (const uint32_t[2]){htobe32(4), htobe32((uint32_t)(int32_t)value)}, 2 * sizeof(uint32_t));
  } else {
    buf_put_be32(&a->bytes, 1);
    buf_putc(&a->bytes, value != 0 ? 1 : 0);
  }
}

void db_args_array_time(struct db_args *a, struct wall_time t)
{
  REQUIRE(a->array_type == DB_ARRAY_TIMESTAMPTZ);
  begin_element(a);
  put_wide(a, t.us - postgres_epoch_us);
}

void db_args_array_text(struct db_args *a, const char *bytes, size_t len)
{
  REQUIRE(a->array_type == DB_ARRAY_TEXT);
  begin_element(a);
  buf_put_be32(&a->bytes, (uint32_t)len);  // len is below DB_ARGS_BYTES_MAX or the buffer overflows now
  buf_append(&a->bytes, bytes, len);
}

void db_args_array_null(struct db_args *a)
{
  begin_element(a);
  buf_put_be32(&a->bytes, UINT32_MAX);
  a->array_has_null = true;
}

static void patch_be32(struct db_args *a, size_t at, uint32_t value)
{
  uint32_t wire = htobe32(value);
  memcpy(a->bytes.data + at, &wire, sizeof wire);
}

void db_args_array_end(struct db_args *a)
{
  REQUIRE(a->count > 0 && a->array_count >= 0);
  struct db_arg *arg = &a->items[a->count - 1];
  if (!a->bytes.overflowed) {
    arg->len = a->bytes.len - arg->at;
    patch_be32(a, a->array_at, a->array_count > 0 ? 1 : 0);
    patch_be32(a, a->array_at + 4, a->array_has_null ? 1 : 0);
    if (a->array_count > 0) patch_be32(a, a->array_at + 12, (uint32_t)a->array_count);
  }
  a->array_count = -1;  // closed: a further element is a mistake of ours
}

void db_args_to_wire(const struct db_args *a, struct db_wire_args *out)
{
  out->count = (int)a->count;
  for (size_t i = 0; i < a->count; i++) {
    const struct db_arg *arg = &a->items[i];
    out->values[i] = arg->is_null ? NULL : a->bytes.data + arg->at;
    out->lengths[i] = (int)arg->len;
    out->formats[i] = arg->is_binary ? 1 : 0;
  }
}
