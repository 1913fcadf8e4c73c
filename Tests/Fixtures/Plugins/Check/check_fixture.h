/*
 * A plugin around one handler: what the fixtures of the checker have in common. A fixture compiled with -DWELL_BEHAVED does
 * the same work and keeps the rule.
 */
#ifndef CHECK_FIXTURE_H
#define CHECK_FIXTURE_H

#include "taskhost.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

static const taskhost_api *host;

static taskhost_result handle(taskhost_task task, void *context);

#ifndef MAX_RUNS
#define MAX_RUNS 1
#endif


static inline taskhost_status register_fixture(const taskhost_api *api, taskhost_launch launch, const char *version) {
  taskhost_registration registration;
  memset(&registration, 0, sizeof registration);
  registration.struct_size = sizeof registration;
  registration.kind = TASKHOST_REFRESH;
  registration.identifier = "org.example.fixture";
  registration.handler = handle;
  registration.max_concurrent_runs = MAX_RUNS;
  registration.version = version;
  return api->register_handler(launch, &registration);
}

#ifndef OWN_LAUNCH
TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  return register_fixture(api, launch, "1.0.0");
}
#endif

#endif
