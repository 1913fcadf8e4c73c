/*
 * Keeps nothing, and returns at once: some of its runs expire at that very moment, and the host remembers them until their grace is over.
 */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}
