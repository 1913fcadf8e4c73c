/* Registers another version each time it is launched. */
#define OWN_LAUNCH
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  static int launches;
  host = api;
  launches++;
#ifdef WELL_BEHAVED
  launches = 1;
#endif
  return register_fixture(api, launch, launches == 1 ? "1.0.0" : "1.0.1");
}
