/* Takes for granted that its settings have what it needs. */
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
  if (status != TASKHOST_OK) return status;
  const char *settings = api->configuration(launch);
  const char *folder = settings == NULL ? NULL : strstr(settings, "\"folder\"");
#ifdef WELL_BEHAVED
  if (folder == NULL) return TASKHOST_EINVAL;
#endif
  return *(volatile const char *)folder == '"' ? TASKHOST_OK : TASKHOST_EINVAL;
}
