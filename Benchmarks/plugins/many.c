/* many.c - one of many small plugins: compiled once for each NUMBER. */
#include "taskhost.h"

#define TEXT_OF(number) #number
#define TEXT(number) TEXT_OF(number)

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

static taskhost_result do_nothing(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  const taskhost_registration registration = {
      .struct_size = sizeof registration, .kind = TASKHOST_REFRESH, .identifier = "org.taskhost.bench.many" TEXT(NUMBER),
      .handler = do_nothing};
  return api->register_handler(launch, &registration);
}
