/* Registers two handlers; the second returns a value that is no taskhost_result. */
#define OWN_LAUNCH
#include "check_fixture.h"

TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit = 2;

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  return context == NULL ? TASKHOST_SUCCESS : 17;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  static int second;
  host = api;
  taskhost_status status = register_fixture(api, launch, "1.0.0");
  if (status != TASKHOST_OK) return status;
  taskhost_registration registration;
  memset(&registration, 0, sizeof registration);
  registration.struct_size = sizeof registration;
  registration.kind = TASKHOST_PROCESSING;
  registration.identifier = "org.example.second";
  registration.handler = handle;
  registration.context = &second;
  return api->register_handler(launch, &registration);
}
