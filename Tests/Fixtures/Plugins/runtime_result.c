/* Returns the number that its payload is in decimal. Faults: 55 (a result out of range). */
#include "runtime_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes;
  size_t length;
  if (api->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
  /* The byte after the payload is 0, so it is a C string. */
  return (taskhost_result)strtol(bytes, NULL, 10);
}

RUNTIME_PLUGIN("result", handle)
