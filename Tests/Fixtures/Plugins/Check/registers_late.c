/* Registers once more from a run, when the launch is long over. */
#define OWN_LAUNCH
#include "check_fixture.h"

static taskhost_launch kept;

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
#ifndef WELL_BEHAVED
  register_fixture(host, kept, "1.0.0");
#endif
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  kept = launch;
  return register_fixture(api, launch, "1.0.0");
}
