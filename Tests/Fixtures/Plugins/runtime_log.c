/* Writes lines that are too long, would forge others, steer a terminal, or are not UTF-8. Faults: 67. */
#include "runtime_fixture.h"

static char text[100000];

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  CHECK(api->log(task, TASKHOST_INFO, "one\ntwo\x1b[31m\r\ttab") == TASKHOST_OK);
  CHECK(api->log(task, TASKHOST_WARNING, "bad \xff\xc3( end") == TASKHOST_OK);
  memset(text, 'x', 8192);
  CHECK(api->log(task, TASKHOST_DEBUG, text) == TASKHOST_OK);
  memset(text, 'x', sizeof text - 1);
  CHECK(api->log(task, TASKHOST_TRACE, text) == TASKHOST_OK);
  memset(text, '\x1b', sizeof text - 1);
  CHECK(api->log(task, TASKHOST_ERROR, text) == TASKHOST_OK);
  /* Two bytes a character, the limit in the middle of one. */
  text[0] = 'x';
  for (size_t index = 1; index + 2 < sizeof text; index += 2) memcpy(text + index, "\xc3\xa9", 2);
  CHECK(api->set_message(task, text) == TASKHOST_OK);
  for (int line = 0; line < 200; line++) CHECK(api->log(task, TASKHOST_NOTICE, "many") == TASKHOST_OK);
  return TASKHOST_RETRY;
}

RUNTIME_PLUGIN("log", handle)
