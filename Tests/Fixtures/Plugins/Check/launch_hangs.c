/* Waits for ever where its registration is refused. */
#define OWN_LAUNCH
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  taskhost_status status = register_fixture(api, launch, "1.0.0");
#ifndef WELL_BEHAVED
  while (status != TASKHOST_OK) pause();
#endif
  return status;
}
