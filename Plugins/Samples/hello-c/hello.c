/*
 * hello.c - a complete taskhost plugin in C. It needs only taskhost.h, here from this repository:
 *
 *   cc -shared -fPIC -O2 -Wall -Wextra -I../../../SDK/CTaskHost/include -o hello-c.so hello.c
 *
 * Copy hello-c.so into the plugin directory. A run greets with its payload, counts to ten in steps of a tenth of
 * a second, and outputs the count. If it is asked to stop, it returns at once, and the host runs it again.
 */
#include "taskhost.h"

#include <stdio.h>
#include <string.h>

/* Tells the host the identifier, and so the settings, sandbox and limits, before any of this code runs. */
TASKHOST_PLUGIN_NOTE("org.taskhost.samples.hello-c", "refresh", 0, "1.0.0");

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

/* The host's functions: read-only and valid for the life of the process, so every run may use the pointer. */
static const taskhost_api *host;

/* One run. Called on its own thread; the return value is the outcome. */
static taskhost_result hello(taskhost_task task, void *context) {
  (void)context;

  const void *payload = NULL;
  size_t length = 0;
  if (host->payload(task, &payload, &length) != TASKHOST_OK) {
    return TASKHOST_RETRY; /* the run is already over: the host ignores this */
  }
  char line[256];
  snprintf(line, sizeof line, "hello, %s", length > 0 ? (const char *)payload : "world"); /* a 0 byte follows the payload */
  host->log(task, TASKHOST_INFO, line);

  const uint64_t steps = 10;
  for (uint64_t step = 1; step <= steps; step++) {
    /* Returns early once the run has expired, so a handler that only computes and sleeps needs no expiration handler. */
    taskhost_status status = host->sleep(task, 100);
    if (status != TASKHOST_OK) {
      host->set_message(task, status == TASKHOST_EEXPIRED ? "asked to stop before the end" : host->last_error());
      return TASKHOST_RETRY;
    }
    host->progress(task, step, steps);
  }

  const char output[] = "{\"counted\":10}";
  if (host->set_output(task, output, strlen(output)) != TASKHOST_OK) {
    host->set_message(task, host->last_error());
    return TASKHOST_RETRY;
  }
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  if (api == NULL) {
    return TASKHOST_EINVAL;
  }
  if (api->abi_version < TASKHOST_ABI_VERSION || !TASKHOST_HAS(api, extension)) {
    return TASKHOST_EUNSUPPORTED;
  }
  host = api;

  taskhost_registration registration;
  memset(&registration, 0, sizeof registration);
  registration.struct_size = sizeof registration;
  registration.kind = TASKHOST_REFRESH;
  registration.identifier = "org.taskhost.samples.hello-c";
  registration.handler = hello;
  registration.display_name = "Hello from C";
  registration.version = "1.0.0";
  return api->register_handler(launch, &registration);
}
