// SPDX-License-Identifier: Apache-2.0
// The file of an archived activity: see archive_file.h.
// Owner: the command; blocking.
#include "reconciler/archive_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/contract.h"
#include "common/gzip_file.h"
#include "common/jsonx.h"
#include "common/mem.h"
#include "common/signature.h"

#define FORMAT          1
#define HEAD_BYTES_MAX  1024
#define READ_BYTES      (256u * 1024u)
#define ROW_PREFIX      "{\"table\":\""
#define ROW_MIDDLE      "\",\"row\":"
#define MANIFEST_PREFIX "{\"manifest\":"
#define MANIFEST_MAX    (64u * 1024u)

bool archive_is_month(const char *text)
{
  if (strlen(text) != 7 || strspn(text, "0123456789") != 4 || text[4] != '-') return false;
  if (strspn(text + 5, "0123456789") != 2) return false;
  int month = (text[5] - '0') * 10 + text[6] - '0';
  return strncmp(text, "1970", 4) >= 0 && month >= 1 && month <= 12;
}

const struct archive_table *archive_table_of(const struct archive_contents *contents, const char *name)
{
  for (size_t i = 0; i < contents->table_count; i++) {
    if (strcmp(contents->tables[i].name, name) == 0) return &contents->tables[i];
  }
  return NULL;
}

static void put_hex(const uint8_t sum[SIGNATURE_SHA256_BYTES], char out_hex[ARCHIVE_HEX_BYTES])
{
  struct buf hex;
  buf_init(&hex, ARCHIVE_HEX_BYTES);
  text_hex(sum, SIGNATURE_SHA256_BYTES, &hex);
  (void)snprintf(out_hex, ARCHIVE_HEX_BYTES, "%s", buf_text(&hex));
  buf_release(&hex);
}

// --- counting

struct archive_sums {
  struct archive_contents *contents;
  struct archive_table *table;  // the one that is being counted
  struct signature *signature;
};

struct archive_sums *archive_sums_new(struct archive_contents *contents)
{
  struct archive_sums *sums = MEM_NEW(struct archive_sums);
  contents->table_count = 0;
  contents->rows = 0;
  sums->contents = contents;
  sums->signature = signature_new();
  return sums;
}

void archive_sums_free(struct archive_sums *sums)
{
  if (sums == NULL) return;
  signature_free(sums->signature);
  mem_free(sums);
}

void archive_sums_end(struct archive_sums *sums)
{
  uint8_t sum[SIGNATURE_SHA256_BYTES];
  if (sums->table == NULL) return;
  signature_sha256_end(sums->signature, sum);
  put_hex(sum, sums->table->sha256);
  sums->contents->rows += sums->table->rows;
  sums->table = NULL;
}

enum result archive_sums_table(struct archive_sums *sums, const char *name, size_t len)
{
  archive_sums_end(sums);
  if (sums->contents->table_count == ARCHIVE_TABLES_MAX || len > ARCHIVE_TABLE_NAME_MAX) return RESULT_TOO_BIG;
  sums->table = &sums->contents->tables[sums->contents->table_count++];
  *sums->table = (struct archive_table){.rows = 0};
  memcpy(sums->table->name, name, len);
  signature_sha256_begin(sums->signature);
  return RESULT_OK;
}

void archive_sums_row(struct archive_sums *sums, const char *row, size_t len)
{
  REQUIRE(sums->table != NULL);
  signature_sha256_add(sums->signature, row, len);
  signature_sha256_add(sums->signature, "\n", 1);
  sums->table->rows++;
}

// --- writing

struct archive_writer {
  struct gzip_writer *file;
  struct buf line;
};

static void put_line(struct archive_writer *w)
{
  buf_putc(&w->line, '\n');
  gzip_writer_put(w->file, w->line.data, w->line.len);
  buf_clear(&w->line);
}

enum result archive_writer_open(const char *path, const struct archive_contents *contents,
                                struct archive_writer **out_writer, char out_why[ARCHIVE_WHY_BYTES])
{
  struct gzip_writer *file = NULL;
  enum result result = gzip_writer_open(path, &file, out_why);
  if (result != RESULT_OK) return result;
  struct archive_writer *w = MEM_NEW(struct archive_writer);
  w->file = file;
  buf_init(&w->line, MANIFEST_MAX);
  buf_printf(&w->line,
             "{\"archive\":{\"format\":%d,\"activityId\":\"%" PRId64
             "\",\"activityCode\":\"%s\",\"month\":\"%s\",\"exportedAt\":\"%s\",\"version\":\"%s\"}}",
             FORMAT, contents->activity_id, contents->code, contents->month, contents->exported_at, LARGESSE_VERSION);
  put_line(w);
  *out_writer = w;
  return RESULT_OK;
}

void archive_writer_row(struct archive_writer *w, const char *table, const char *row, size_t len)
{
  buf_printf(&w->line, ROW_PREFIX "%s" ROW_MIDDLE, table);
  gzip_writer_put(w->file, w->line.data, w->line.len);
  gzip_writer_put(w->file, row, len);
  gzip_writer_put(w->file, "}\n", 2);
  buf_clear(&w->line);
}

enum result archive_writer_end(struct archive_writer *w, const struct archive_contents *contents,
                               char out_why[ARCHIVE_WHY_BYTES])
{
  buf_puts(&w->line, MANIFEST_PREFIX "{\"tables\":[");
  for (size_t i = 0; i < contents->table_count; i++) {
    const struct archive_table *t = &contents->tables[i];
    buf_printf(&w->line, "%s{\"table\":\"%s\",\"rows\":%" PRId64 ",\"sha256\":\"%s\"}", i > 0 ? "," : "", t->name,
               t->rows, t->sha256);
  }
  buf_printf(&w->line, "],\"rows\":%" PRId64 "}}", contents->rows);
  enum result result = buf_result(&w->line);
  put_line(w);
  enum result ended = gzip_writer_end(w->file, out_why);
  buf_release(&w->line);
  mem_free(w);
  return result != RESULT_OK ? result : ended;
}

void archive_writer_free(struct archive_writer *w)
{
  if (w == NULL) return;
  gzip_writer_free(w->file);
  buf_release(&w->line);
  mem_free(w);
}

// --- reading

struct check {
  struct gzip_reader *file;
  struct archive_contents *contents;
  struct archive_sums *sums;
  struct buf line;
  char *why;  // ARCHIVE_WHY_BYTES
};

static enum result fault(struct check *k, const char *what)
{
  (void)snprintf(k->why, ARCHIVE_WHY_BYTES, "%s", what);
  return RESULT_INVALID;
}

static enum result next_line(struct check *k)
{
  enum result result = gzip_reader_line(k->file, &k->line, k->why);
  if (result == RESULT_TOO_BIG) return fault(k, "a line is too long");
  return result == RESULT_NOT_FOUND ? fault(k, "it has no manifest at its end: it was cut") : result;
}

static bool copy_text(const json_t *doc, const char *member, char *out, size_t size)
{
  const char *text = json_string_value(json_object_get(doc, member));
  return text != NULL && snprintf(out, size, "%s", text) < (int)size;
}

static enum result read_head(struct check *k)
{
  enum result result = next_line(k);
  if (result != RESULT_OK) return result;
  struct archive_contents *contents = k->contents;
  json_t *doc = k->line.len <= HEAD_BYTES_MAX ? json_loadb(k->line.data, k->line.len, 0, NULL) : NULL;
  const json_t *head = json_object_get(doc, "archive");
  const char *id = json_string_value(json_object_get(head, "activityId"));
  bool is_one = json_integer_value(json_object_get(head, "format")) == FORMAT && id != NULL &&
                text_to_i64(id, strlen(id), &contents->activity_id) == RESULT_OK &&
                copy_text(head, "activityCode", contents->code, sizeof contents->code) &&
                copy_text(head, "month", contents->month, sizeof contents->month) &&
                copy_text(head, "exportedAt", contents->exported_at, sizeof contents->exported_at) &&
                text_is_code(contents->code, strlen(contents->code)) && archive_is_month(contents->month);
  json_decref(doc);
  return is_one ? RESULT_OK
                : fault(k, "it is no archive of an activity, or of a format that this version does not know");
}

static enum result read_row(struct check *k)
{
  const char *line = k->line.data, *name = line + strlen(ROW_PREFIX);
  size_t len = k->line.len;
  const char *middle = strstr(name, ROW_MIDDLE);
  if (middle == NULL || line[len - 1] != '}') return fault(k, "a line is no row");
  size_t name_len = (size_t)(middle - name);
  const struct archive_table *last =
      k->contents->table_count > 0 ? &k->contents->tables[k->contents->table_count - 1] : NULL;
  if (last == NULL || strlen(last->name) != name_len || memcmp(last->name, name, name_len) != 0) {
    if (archive_sums_table(k->sums, name, name_len) != RESULT_OK) return fault(k, "it has too many tables");
  }
  const char *row = middle + strlen(ROW_MIDDLE);
  archive_sums_row(k->sums, row, (size_t)(line + len - 1 - row));
  return RESULT_OK;
}

static bool starts_with(const struct buf *line, const char *prefix)
{
  return line->len > strlen(prefix) && memcmp(line->data, prefix, strlen(prefix)) == 0;
}

static enum result compare_table(struct check *k, const json_t *said)
{
  static const struct archive_table none = {.rows = 0};
  const char *name = json_string_value(json_object_get(said, "table"));
  const char *sum = json_string_value(json_object_get(said, "sha256"));
  int64_t rows = json_integer_value(json_object_get(said, "rows"));
  const struct archive_table *table = name != NULL ? archive_table_of(k->contents, name) : NULL;
  if (table == NULL) table = &none;
  if (name == NULL || sum == NULL) return fault(k, "its manifest cannot be read");
  if (table->rows == rows && (rows == 0 || strcmp(table->sha256, sum) == 0)) return RESULT_OK;
  if (table->rows != rows)
    (void)snprintf(k->why, ARCHIVE_WHY_BYTES, "table %.64s has %" PRId64 " rows, its manifest says %" PRId64, name,
                   table->rows, rows);
  else
    (void)snprintf(k->why, ARCHIVE_WHY_BYTES, "the rows of table %.64s are not those of its manifest", name);
  return RESULT_INVALID;
}

// The last line, and nothing behind it. Tables without rows are in the manifest only.
static enum result compare_manifest(struct check *k)
{
  enum result result = RESULT_OK;
  archive_sums_end(k->sums);
  json_t *doc = json_loadb(k->line.data, k->line.len, JSON_REJECT_DUPLICATES, NULL);
  const json_t *manifest = json_object_get(doc, "manifest"), *tables = json_object_get(manifest, "tables");
  size_t count = json_array_size(tables), seen = 0;
  for (size_t i = 0; i < count; i++) {
    TRY(compare_table(k, json_array_get(tables, i)));
    seen += json_integer_value(json_object_get(json_array_get(tables, i), "rows")) > 0;
  }
  if (count == 0 || seen != k->contents->table_count ||
      json_integer_value(json_object_get(manifest, "rows")) != k->contents->rows)
    TRY(fault(k, "its manifest does not name the tables that it has"));
  result = gzip_reader_line(k->file, &k->line, k->why);
  if (result == RESULT_OK) result = fault(k, "something stands behind its manifest");
  if (result == RESULT_NOT_FOUND) result = RESULT_OK;

cleanup:
  json_decref(doc);
  return result;
}

static enum result check_lines(struct check *k)
{
  enum result result = read_head(k);
  while (result == RESULT_OK) {
    result = next_line(k);
    if (result != RESULT_OK) break;
    if (starts_with(&k->line, MANIFEST_PREFIX)) return compare_manifest(k);
    result = starts_with(&k->line, ROW_PREFIX) ? read_row(k) : fault(k, "a line is neither a row nor the manifest");
  }
  return result;
}

// The bytes as they lie on the disk.
static enum result sum_file(const char *path, struct archive_contents *contents, char out_why[ARCHIVE_WHY_BYTES])
{
  FILE *f = fopen(path, "re");
  if (f == NULL) {
    (void)snprintf(out_why, ARCHIVE_WHY_BYTES, "cannot read %.300s: %s", path, strerror(errno));
    return RESULT_UNAVAILABLE;
  }
  struct signature *signature = signature_new();
  uint8_t digest[SIGNATURE_SHA256_BYTES];
  char *bytes = mem_resize(NULL, READ_BYTES, 1);
  size_t n;
  contents->bytes = 0;
  signature_sha256_begin(signature);
  while ((n = fread(bytes, 1, READ_BYTES, f)) > 0) {
    signature_sha256_add(signature, bytes, n);
    contents->bytes += (int64_t)n;
  }
  signature_sha256_end(signature, digest);
  put_hex(digest, contents->sha256);
  bool is_read = ferror(f) == 0;
  if (!is_read) (void)snprintf(out_why, ARCHIVE_WHY_BYTES, "cannot read %.300s", path);
  (void)fclose(f);
  mem_free(bytes);
  signature_free(signature);
  return is_read ? RESULT_OK : RESULT_UNAVAILABLE;
}

enum result archive_file_check(const char *path, struct archive_contents *out_contents, char out_why[ARCHIVE_WHY_BYTES])
{
  enum result result;
  struct archive_contents *contents = MEM_NEW(struct archive_contents);
  struct check k = {.contents = contents, .why = out_why};
  buf_init(&k.line, ARCHIVE_ROW_BYTES_MAX);
  k.sums = archive_sums_new(contents);
  TRY(sum_file(path, contents, out_why));
  TRY(gzip_reader_open(path, &k.file, out_why));
  TRY(check_lines(&k));
  *out_contents = *contents;

cleanup:
  gzip_reader_free(k.file);
  archive_sums_free(k.sums);
  buf_release(&k.line);
  mem_free(contents);
  return result;
}
