/* Tells its payload when it begins and when it ends, and reports progress between the two. */
#include "runtime_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes;
  size_t length;
  char text[64];
  CHECK(api->payload(task, &bytes, &length) == TASKHOST_OK);
  snprintf(text, sizeof text, "begin %s", (const char *)bytes);
  CHECK(api->log(task, TASKHOST_INFO, text) == TASKHOST_OK);
  CHECK(api->progress(task, 1, 2) == TASKHOST_OK);
  memcpy(text, "  end", 5);
  CHECK(api->log(task, TASKHOST_INFO, text) == TASKHOST_OK);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("order", handle)
