// SPDX-License-Identifier: Apache-2.0
// Fuzzes event files: no input crashes, every fault is one line with a place, what is accepted gives sessions with
// valid, different codes and complete documents. libFuzzer entry; one thread.
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "scheduler/activity_doc.h"
#include "scheduler/event_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define CHECK(condition)       \
  do {                         \
    if (!(condition)) abort(); \
  } while (0)

static void check_fault(const struct conf_fault *fault)
{
  CHECK(strncmp(fault->text, "f:", 2) == 0 && strlen(fault->text) < sizeof fault->text);
  for (const char *c = fault->text; *c != '\0'; c++) CHECK((unsigned char)*c >= 0x20 && *c != 0x7F);
}

static void check_session(const struct event_file *event, struct event_session *s)
{
  struct conf_fault fault = {.text = ""};
  char why[JSONX_WHY_BYTES];
  json_t *again = NULL;
  if (s->code[0] == '\0' && event_session_name(event, s, "20261001", "110000", &fault) != RESULT_OK) {
    check_fault(&fault);
    return;
  }
  CHECK(text_is_code(s->code, strlen(s->code)));
  CHECK(s->duration.us > 0);
  CHECK(event_session_is_demonstration(s) ? s->after.us >= 0 : strlen(s->local) == 19);
  // What was accepted once is accepted again, unchanged.
  CHECK(activity_doc_check(s->doc, s->code, &again, why) == RESULT_OK);
  CHECK(json_equal(s->doc, again));
  json_decref(again);
  event_session_fault(event, s, "limits[0].count: no", &fault);
  check_fault(&fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  struct event_file *event = NULL;
  struct conf_fault fault = {.text = ""};
  if (size > 1 << 16) return 0;
  if (event_file_parse("f", (const char *)data, size, &event, &fault) != RESULT_OK) {
    check_fault(&fault);
    return 0;
  }
  CHECK(event->session_count > 0 && event->session_count <= EVENT_SESSIONS_MAX);
  for (size_t i = 0; i < event->session_count; i++) check_session(event, &event->sessions[i]);
  event_file_free(event);
  return 0;
}
