/* due.c - tells how late it was started: its payload is the moment it was due, in milliseconds since 1970. */
#include "bench.h"

static taskhost_result tell_lateness(taskhost_task task, void *context) {
  const int64_t started = bench_now(CLOCK_REALTIME);
  (void)context;
  const void *payload;
  size_t length;
  if (host->payload(task, &payload, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
  char line[32];
  const int written = snprintf(line, sizeof line, "%lld\n", (long long)(started - strtoll(payload, NULL, 10) * 1000000));
  bench_tell(line, (size_t)written);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  return bench_register(api, launch, "org.taskhost.bench.due", tell_lateness, 0, 1);
}
