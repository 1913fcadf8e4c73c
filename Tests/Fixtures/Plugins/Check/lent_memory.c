/*
 * Uses what the host lent beyond its time, or writes into it: WHAT is 1 the payload of an earlier run, 2 an earlier run's request id,
 * 3 the configuration after the launch, 4 a write into the payload, 5 a read behind the payload's end.
 */
#define OWN_LAUNCH
#include "check_fixture.h"

static const char *kept;

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  (void)kept;
#ifndef WELL_BEHAVED
  if (kept != NULL && *(volatile const char *)kept == '\xff') return TASKHOST_NOOP;
#endif
  const void *bytes = NULL;
  size_t length = 0;
  if (host->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_RETRY;
#if WHAT == 1
  kept = bytes;
#elif WHAT == 2
  kept = host->request_id(task);
#elif WHAT == 4 && !defined(WELL_BEHAVED)
  ((volatile char *)bytes)[0] = 'x';
#elif WHAT == 5 && !defined(WELL_BEHAVED)
  if (((volatile const char *)bytes)[length + 1] == '\xff') return TASKHOST_NOOP;
#endif
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  taskhost_status status = register_fixture(api, launch, "1.0.0");
#if WHAT == 3
  kept = api->configuration(launch);
#endif
  return status;
}
