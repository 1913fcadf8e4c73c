/* The four plugins of the soak: BEHAVIOUR chooses one. Each run of a request says in its output which attempt it was. */
#include <stdio.h>
#include <string.h>

#include "taskhost.h"

#ifndef BEHAVIOUR
#error "define BEHAVIOUR as 0 (steady), 1 (retries once), 2 (sleeps) or 3 (has nothing to do)"
#endif

static const taskhost_api *host;

static taskhost_result run(taskhost_task task, void *context) {
  (void)context;
  char output[64];
  int length = snprintf(output, sizeof output, "{\"attempt\":%u}", host->attempt(task));
  host->set_output(task, output, (size_t)length);
  switch (BEHAVIOUR) {
    case 0:
      host->log(task, TASKHOST_INFO, "a steady run");
      return TASKHOST_SUCCESS;
    case 1:
      if (host->attempt(task) == 1) {
        host->retry_after(task, 200);
        return TASKHOST_RETRY;
      }
      return TASKHOST_SUCCESS;
    case 2: return host->sleep(task, 20) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_RETRY;
    default: return TASKHOST_NOOP;
  }
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  static const char *const names[] = {"soak.steady", "soak.retry", "soak.sleep", "soak.nothing"};
  host = api;
  taskhost_registration registration = {.struct_size = sizeof registration,
                                        .kind = TASKHOST_REFRESH,
                                        .identifier = names[BEHAVIOUR],
                                        .handler = run,
                                        .max_concurrent_runs = 4};
  return api->register_handler(launch, &registration);
}
