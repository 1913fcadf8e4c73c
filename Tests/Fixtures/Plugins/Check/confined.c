/* Writes a file beside the machine's own while it launches: the caller may, a worker may not. */
#define OWN_LAUNCH
#include "check_fixture.h"

#include <fcntl.h>
#include <stdio.h>

TASKHOST_PLUGIN_NOTE("org.example.fixture", "refresh", 0, "1.0.0");

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  taskhost_status status = register_fixture(api, launch, "1.0.0");
  if (status != TASKHOST_OK) return status;
  char path[512];
#ifdef WELL_BEHAVED
  const char *folder = api->data_directory(launch);
#else
  const char *folder = "/tmp";
#endif
  if (folder == NULL) return TASKHOST_EINTERNAL;
  snprintf(path, sizeof path, "%s/taskhost-check-confined-%d", folder, (int)getpid());
  int file = open(path, O_CREAT | O_WRONLY, 0600);
  if (file < 0) return TASKHOST_EUNAVAILABLE;
  close(file);
  unlink(path);
  return TASKHOST_OK;
}
