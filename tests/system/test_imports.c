// SPDX-License-Identifier: Apache-2.0
// Lists that come as CSV: qualifications and numbers; all or nothing, as people's programs write them, and beside
// claims; the commands that do the same.
#include <pthread.h>
#include <stdlib.h>

#include "tests/system/import_calls.h"

static int64_t listed(struct fixture *f, const char *code)
{
  return sql_int(f->stack->sql,
                 "select count(*) from largesse.qualification q join largesse.activity a on a.id = q.activity_id where "
                 "a.code = '%s'",
                 code);
}

#define LIST "/v1/activities/list/qualifications"

// B86, B87, B89 and what else a file can look like.
static void a_list_is_taken_as_people_write_it_or_not_at_all(void **state)
{
  struct fixture *f = *state;
  make_activity(f, "list");
  // As a spreadsheet saves it: byte order mark, CRLF, no last line end, a row twice. Everybody is on it, the first too.
  ASSERT_IMPORT(f, LIST, "\xEF\xBB\xBFuserId,source\r\n11,shop\r\n12,app\r\n11,shop\r\n13,app", "200 3+1");
  ASSERT_IMPORT(f, LIST, "\xEF\xBB\xBFuserId,source\r\n11,shop\r\n12,app\r\n11,shop\r\n13,app", "200 0+4");
  assert_int_equal(listed(f, "list"), 3);
  // A row is not a line.
  ASSERT_IMPORT(f, LIST, "batch,userId,source\n\"a \"\"note\"\", of\ntwo lines\",21,x\n,22,\n", "200 2+0");
  struct call c = call_with(f, "GET", LIST "?userId=21", NULL, NULL);
  assert_string_equal(text_at(&c, "/items/0/batch"), "a \"note\", of\ntwo lines");
  assert_string_equal(text_at(&c, "/items/0/status"), "unused");
  assert_string_equal(text_at(&c, "/items/0/userId"), "21");
  call_release(&c);
  // Extra fields are JSON; numbers keep their digits.
  ASSERT_IMPORT(f, LIST,
                "userId,ext\n31,\"{\"\"tier\"\":\"\"gold\"\",\"\"n\"\":9007199254740993}\"\n9223372036854775807,\n",
                "200 2+0");
  assert_true(
      sql_bool(f->stack->sql, "select ext->>'n' = '9007199254740993' from largesse.qualification where user_id = 31"));
  // … or a note, as people write it.
  ASSERT_IMPORT(f, LIST, "userId,ext\n32,\"a \"\"note\"\", of\ntwo lines\"\n33,17\n", "200 2+0");
  c = call_with(f, "GET", LIST "?userId=32", NULL, NULL);
  assert_string_equal(text_at(&c, "/items/0/ext"), "a \"note\", of\ntwo lines");
  call_release(&c);
  int64_t before = listed(f, "list");
  // Spreadsheets spoil ids: both forms are refused, by line.
  ASSERT_IMPORT(f, LIST, "userId\n41\n00123\n1.00123E+05\n42\n 43 \n",
                "400 3: userId: must be an id from 1 to 9223372036854775807, without leading zeros;"
                " 4: userId: must be an id from 1 to 9223372036854775807, without leading zeros;");
  ASSERT_IMPORT(f, LIST, "userId,source\n41,\"open\n42,x\n43,y\n",
                "400 2: a quote is not closed, or stands in the middle of a cell;");
  ASSERT_IMPORT(f, LIST, "userId,source\n41,a\n42,b\"c\n",
                "400 3: a quote is not closed, or stands in the middle of a cell;");
  ASSERT_IMPORT(f, LIST, "userId,source\n41,a\n42\n43,b,c\n0,x\n-1,x\n9223372036854775808,x\n,x\n",
                "400 3: has 1 cells; the header has 2; 4: has 3 cells; the header has 2;"
                " 5: userId: must be an id from 1 to 9223372036854775807, without leading zeros;"
                " 6: userId: must be an id from 1 to 9223372036854775807, without leading zeros;"
                " 7: userId: must be an id from 1 to 9223372036854775807, without leading zeros;"
                " 8: userId: must be an id from 1 to 9223372036854775807, without leading zeros;");
  ASSERT_IMPORT(f, LIST, "userId,source\n41,a\xFF\n42,a\0b\n43,\xE4\xBD\xA0\n",
                "400 2: source: must be UTF-8 without NUL; 3: source: must be UTF-8 without NUL;");
  ASSERT_IMPORT(f, LIST,
                "userId,ext\n41,[]\n42,{}\n43,\"{\"\"a\"\":1,\"\"a\"\":2}\"\n44,\"{\"\"a\"\":\"\"\\u0000\"\"}\"\n",
                "400 2: ext: must be a JSON object, or a text; 4: ext: must be a JSON object, or a text; 5: ext: must "
                "be a JSON object, or a text;");
  ASSERT_IMPORT(f, LIST, "userId;source\n41;a\n", "400 1: header: userId;source: there is no such column;");
  ASSERT_IMPORT(f, LIST, "userId,userId\n41,42\n", "400 1: header: userId: the column is named twice;");
  ASSERT_IMPORT(f, LIST, "source\na\n", "400 1: header: userId: the column is missing;");
  ASSERT_IMPORT(f, LIST, "\n\n", "400 1: the file is empty: its first line names the columns;");
  assert_int_equal(listed(f, "list"), before);
  ASSERT_IMPORT(f, LIST, "userId\n", "200 0+0");
  assert_call(f, "POST", LIST, "{}", 415, NULL);
  c = send_csv(f, "/v1/activities/nothing/qualifications", "userId\n1\n", 9);
  assert_int_equal(c.status, 404);
  assert_string_equal(text_at(&c, "/code"), "ACTIVITY_NOT_FOUND");
  call_release(&c);
}

static void many_rejected_rows_are_counted(void **state)
{
  struct fixture *f = *state;
  struct buf b;
  make_activity(f, "rejects");
  buf_init(&b, 1 << 20);
  buf_puts(&b, "userId\n");
  for (int i = 0; i < 5000; i++) buf_puts(&b, i % 2 ? "x\n" : "1\n");
  struct call c = send_csv(f, "/v1/activities/rejects/qualifications", buf_text(&b), b.len);
  assert_int_equal(c.status, 400);
  assert_int_equal(number_at(&c, "/rejectedCount"), 2500);
  assert_int_equal(number_at(&c, "/rows"), 5000);
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/rejected")), 100);
  assert_int_equal(number_at(&c, "/inserted"), 0);
  assert_string_equal(text_at(&c, "/code"), "INVALID_REQUEST");
  call_release(&c);
  buf_release(&b);
  assert_int_equal(listed(f, "rejects"), 0);
}

// --- numbers

#define NUMBERS "/v1/activities/lottery/numbers"

static void numbers_come_by_range_and_by_list(void **state)
{
  struct fixture *f = *state;
  make_activity(f, "lottery");
  assert_call(f, "POST", NUMBERS, "{\"from\":1,\"to\":5}", 409, "STATE_CONFLICT");
  sql_exec(f->stack->sql,
           "update largesse.activity set kind = 'number', stock_follows_numbers = true, stock_total = 0 where code = "
           "'lottery'; update largesse.stock set remaining = 0 where activity_id = (select id from "
           "largesse.activity where code = 'lottery')");
  struct call c = call_with(f, "POST", NUMBERS, "{\"from\":1,\"to\":\"1000\"}", NULL);
  assert_int_equal(c.status, 200);
  assert_int_equal(number_at(&c, "/inserted"), 1000);
  assert_int_equal(number_at(&c, "/duplicates"), 0);
  call_release(&c);
  ASSERT_IMPORT(f, NUMBERS, "number\r\n999\r\n1001\r\n1001\r\n0\r\n999999999999", "200 3+2");
  c = call_with(f, "GET", "/v1/activities/lottery", NULL, NULL);
  assert_int_equal(number_at(&c, "/availability/total"), 1003);
  call_release(&c);
  ASSERT_IMPORT(f, NUMBERS, "999\r\n1001\n0", "200 0+3");  // numbers need no header
  ASSERT_IMPORT(f, NUMBERS, "007\n8\n",
                "400 1: number: must be an integer from 0 to 999999999999, without leading zeros;");
  ASSERT_IMPORT(f, NUMBERS, "number\n2000\n007\n1000000000000\n-1\n",
                "400 3: number: must be an integer from 0 to 999999999999, without leading zeros;"
                " 4: number: must be an integer from 0 to 999999999999, without leading zeros;"
                " 5: number: must be an integer from 0 to 999999999999, without leading zeros;");
  static const char *const bad[] = {"{}",
                                    "{\"from\":1}",
                                    "{\"from\":2,\"to\":1}",
                                    "{\"from\":-1,\"to\":1}",
                                    "{\"from\":1.5,\"to\":2}",
                                    "{\"from\":1,\"to\":1e2}",
                                    "{\"from\":\"01\",\"to\":2}",
                                    "{\"from\":\"\",\"to\":2}",
                                    "{\"from\":null,\"to\":2}",
                                    "{\"from\":1,\"to\":2,\"to\":3}",
                                    "{\"from\":1,\"to\":1000000000000}",
                                    "{\"from\":1,\"to\":1000001}",
                                    "{\"from\":1,\"to\":2,\"step\":1}",
                                    "[]",
                                    ""};
  for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_call(f, "POST", NUMBERS, bad[i], 400, "INVALID_REQUEST");
  assert_int_equal(sql_int(f->stack->sql, "select count(*) from largesse.activity_number"), 1003);
  // Pages in order, and free ones at random.
  c = call_with(f, "GET", NUMBERS "?limit=2", NULL, NULL);
  assert_int_equal(number_at(&c, "/items/0/number"), 0);
  assert_int_equal(number_at(&c, "/items/1/number"), 1);
  assert_string_equal(text_at(&c, "/items/1/status"), "available");
  assert_string_equal(text_at(&c, "/next"), "1");
  call_release(&c);
  c = call_with(f, "GET", NUMBERS "?limit=2&after=1001&status=available", NULL, NULL);
  assert_int_equal(number_at(&c, "/items/0/number"), 999999999999);
  assert_true(json_is_null(jsonx_pointer(c.json, "/next")));
  call_release(&c);
  c = call_with(f, "GET", NUMBERS "?random=10", NULL, NULL);
  struct call other = call_with(f, "GET", NUMBERS "?random=10", NULL, NULL);
  assert_int_equal(json_array_size(jsonx_pointer(c.json, "/items")), 10);
  assert_false(json_equal(c.json, other.json));
  call_release(&c);
  call_release(&other);
  static const char *const queries[] = {"?random=0",         "?random=1001",          "?random=x", "?status=free",
                                        "?random=5&after=1", "?random=5&status=sold", "?limit=0",  "?after=-2"};
  for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
    char *path = support_format(NUMBERS "%s", queries[i]);
    assert_call(f, "GET", path, NULL, 400, "INVALID_REQUEST");
    mem_free(path);
  }
  assert_call(f, "GET", "/v1/activities/nothing/numbers?random=5", NULL, 404, "ACTIVITY_NOT_FOUND");
}

// --- large

struct background {
  pthread_t thread;
  struct fixture *f;
  struct buf *csv;
  int status;
  int64_t inserted;
  double seconds;
  bool is_over;
};

static void *import_in_background(void *ctx)
{
  struct background *b = ctx;
  struct http_answer a;
  http_call(&(struct http_request){.port = b->f->port,
                                   .method = "POST",
                                   .path = "/v1/activities/large/qualifications",
                                   .body = b->csv->data,
                                   .body_len = b->csv->len,
                                   .headers = CSV,
                                   .timeout_ms = 280000},
            &a);
  json_t *json = a.body_len > 0 ? http_answer_json(&a) : NULL;
  b->status = a.status;
  b->seconds = a.seconds;
  b->inserted = json_integer_value(json_object_get(json, "inserted"));
  json_decref(json);
  http_answer_release(&a);
  __atomic_store_n(&b->is_over, true, __ATOMIC_SEQ_CST);
  return NULL;
}

static void make_large(struct buf *b, int rows, int large_every)
{
  buf_puts(b, "userId,source,ext\n");
  for (int i = 1; i <= rows; i++) {
    buf_printf(b, "%d,shop,", i);
    if (large_every > 0 && i % large_every == 0) {
      buf_puts(b, "\"{\"\"note\"\":\"\"");
      for (int k = 0; k < 64 * 1024 / 64; k++)
        buf_puts(b, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde ");
      buf_puts(b, "\"\"}\"");
    }
    buf_putc(b, '\n');
  }
}

// B73: a long list with some fields of 64 KiB finishes, no session waits for its client, and claims go on meanwhile.
static void a_long_list_is_imported_beside_claims(void **state)
{
  struct fixture *f = *state;
  bool is_long = getenv("LARGESSE_CHAOS") != NULL;
  int rows = is_long ? 500000 : 100000, claims = 0;
  double slowest = 0;
  struct buf csv;
  buf_init(&csv, 64 << 20);
  make_large(&csv, rows, is_long ? 2000 : 4000);
  assert_int_equal(buf_result(&csv), RESULT_OK);
  make_reward(f);
  put(f, "/v1/activities/large", RUNNING(",\"stock\":{\"total\":1000000},\"limits\":[]"), 201);
  put(f, "/v1/activities/beside", RUNNING(",\"stock\":{\"total\":1000000},\"limits\":[]"), 201);
  assert_call(f, "POST", "/v1/activities/large/publish", "{}", 200, NULL);
  assert_call(f, "POST", "/v1/activities/beside/publish", "{}", 200, NULL);
  struct background b = {.f = f, .csv = &csv};
  WAIT_FOR(claim_is(f, "beside", "first", 201), 5);
  struct stopwatch watch = stopwatch_start();
  assert_int_equal(pthread_create(&b.thread, NULL, import_in_background, &b), 0);
  while (!__atomic_load_n(&b.is_over, __ATOMIC_SEQ_CST)) {
    char biz_id[32];
    double start_at = support_now();
    (void)snprintf(biz_id, sizeof biz_id, "c%d", claims);
    claim(f, claims % 2 ? "beside" : "large", biz_id, 201, NULL);
    if (support_now() - start_at > slowest) slowest = support_now() - start_at;
    claims++;
    assert_int_equal(sql_int(f->stack->sql,
                             "select count(*) from pg_stat_activity where datname = current_database() "
                             "and wait_event = 'ClientRead' and state <> 'idle' and state_change < "
                             "clock_timestamp() - interval '30 s'"),
                     0);
  }
  pthread_join(b.thread, NULL);
  double seconds = stopwatch_seconds(&watch), slowness = stopwatch_slowness(&watch);
  print_message("%d rows, %zu bytes in %.2f s; meanwhile %d claims, the slowest took %.3f s\n", rows, csv.len,
                b.seconds, claims, slowest);
  assert_int_equal(b.status, 200);
  assert_int_equal(b.inserted, rows);
  assert_int_equal(listed(f, "large"), rows);
  assert_true(claims * slowness > 5 && slowest < 2 * slowness && seconds < 60);
  buf_release(&csv);
}

// --- commands

static char *run(struct fixture *f, int expected, const char *const *args)
{
  struct buf out;
  buf_init(&out, 1 << 20);
  int status = stack_command(f->stack, "scheduler", args, &out);
  if (status != expected) fail_msg("scheduler %s %s: %d %s", args[0], args[1], status, buf_text(&out));
  return buf_take(&out);
}
#define RUN(f, expected, ...) run(f, expected, (const char *const[]){__VA_ARGS__, NULL})

static void assert_says(char *output, const char *text)
{
  if (strstr(output, text) == NULL) fail_msg("'%s' is not in: %s", text, output);
  mem_free(output);
}

static void commands_do_the_same(void **state)
{
  struct fixture *f = *state;
  make_activity(f, "by-hand");
  sql_exec(f->stack->sql, "update largesse.activity set kind = 'number' where code = 'by-hand'");
  assert_says(RUN(f, 0, "numbers", "add", "by-hand", "1-1000"), "1000 rows: 1000 inserted, 0 duplicates\n");
  char *file = support_write("numbers.csv", "number\n1000\n1001\n");
  assert_says(RUN(f, 0, "numbers", "add", "by-hand", file, "--format", "json"),
              "{\"rows\":2,\"inserted\":1,\"duplicates\":1}\n");
  mem_free(file);
  assert_says(RUN(f, 64, "numbers", "add", "by-hand", "5-1"), "a range is of 1 to 1000000 numbers");
  assert_says(RUN(f, 65, "numbers", "add", "nothing", "1-5"), "ACTIVITY_NOT_FOUND");
  assert_says(RUN(f, 65, "numbers", "add", "by-hand", "/nowhere.csv"), "/nowhere.csv: No such file");
  assert_says(RUN(f, 0, "numbers", "list", "by-hand"), "1001          available");
  assert_says(RUN(f, 0, "numbers", "list", "by-hand", "--status", "sold"), "none");
  assert_says(RUN(f, 0, "numbers", "list", "by-hand", "--random", "3", "--format", "json"), "\"status\":\"available\"");
  assert_says(RUN(f, 65, "numbers", "list", "nothing"), "ACTIVITY_NOT_FOUND");

  file = support_write("users.csv", "userId,source\r\n1,a\r\n2,b\r\n1,c");
  assert_says(RUN(f, 0, "qualifications", "import", "--activity", "by-hand", file),
              "3 rows: 2 inserted, 1 duplicates\n");
  mem_free(file);
  file = support_write("users.csv", "userId,source\n3,a\nx,b\n04,c\n");
  char *output = RUN(f, 65, "qualifications", "import", "--activity", "by-hand", file);
  assert_non_null(strstr(output, "users.csv:3: userId: must be an id"));
  assert_non_null(strstr(output, "users.csv:4: userId: must be an id"));
  assert_says(output, "2 rows are rejected; nothing was inserted");
  mem_free(file);
  assert_int_equal(listed(f, "by-hand"), 2);
  assert_says(RUN(f, 64, "qualifications", "import", "x.csv"), "--activity is needed");
  assert_says(RUN(f, 0, "qualifications", "list", "--activity", "by-hand"), "2                     unused");

  assert_says(RUN(f, 0, "points", "grant", "801", "--amount", "299", "--key", "k", "--reason", "gift"),
              "balance 299\n");
  assert_says(RUN(f, 0, "points", "grant", "801", "--amount", "299", "--key", "k", "--reason", "gift"),
              "nothing changed");
  assert_says(RUN(f, 65, "points", "grant", "801", "--amount", "300", "--key", "k", "--reason", "gift"),
              "BIZ_ID_REUSED");
  assert_says(RUN(f, 64, "points", "grant", "801", "--amount", "1.5", "--key", "k", "--reason", "gift"),
              "--amount must be");
  assert_says(RUN(f, 64, "points", "grant", "801", "--amount", "1", "--key", "k"), "--reason is needed");
  file = support_write("points.csv", "userId,amount,bizId\n801,1,k2\n802,5,k\n");
  assert_says(RUN(f, 0, "points", "grant", "--file", file), "2 rows: 2 inserted, 0 duplicates\n");
  assert_says(RUN(f, 0, "points", "grant", "--file", file), "2 rows: 0 inserted, 2 duplicates\n");
  mem_free(file);
  file = support_write("points.csv", "userId,amount,bizId\n801,1,k3\n802,6,k\n");
  assert_says(RUN(f, 65, "points", "grant", "--file", file),
              "points.csv:3: bizId: was used for another grant of this user");
  mem_free(file);
  assert_says(RUN(f, 0, "points", "show", "801"), "balance: 300\n");
  assert_says(RUN(f, 0, "points", "show", "801", "--format", "json"), "{\"balance\":300,\"entries\":[\n{\"id\":");
  assert_says(RUN(f, 0, "points", "show", "999"), "balance: 0\n");
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_list_is_taken_as_people_write_it_or_not_at_all),
      cmocka_unit_test(many_rejected_rows_are_counted),
      cmocka_unit_test(numbers_come_by_range_and_by_list),
      cmocka_unit_test(a_long_list_is_imported_beside_claims),
      cmocka_unit_test(commands_do_the_same),
  };
  return cmocka_run_group_tests(tests, start, stop);
}
