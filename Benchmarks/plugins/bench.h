/* What the benchmark's plugins share: their settings, and the FIFO through which they tell the benchmark what they saw. */
#ifndef BENCH_H
#define BENCH_H

#include "taskhost.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

/* Set in launch, before any run. */
static const taskhost_api *host;
static int fifo = -1;
static int64_t expected_runs;

static inline int64_t bench_now(clockid_t clock) {
  struct timespec time;
  clock_gettime(clock, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Writes `text` to the FIFO; what is at most PIPE_BUF bytes long arrives in one piece. */
static inline void bench_tell(const char *text, size_t length) {
  if (write(fifo, text, length) != (ssize_t)length) abort();
}

/* Registers `handler` and reads the settings {"fifo": "/path", "runs": number}. */
static inline taskhost_status bench_register(
    const taskhost_api *api, taskhost_launch launch, const char *identifier, taskhost_handler handler, uint64_t budget_ms,
    uint32_t max_concurrent_runs) {
  host = api;
  const taskhost_registration registration = {
      .struct_size = sizeof registration, .kind = TASKHOST_PROCESSING, .identifier = identifier, .handler = handler,
      .budget_ms = budget_ms, .max_concurrent_runs = max_concurrent_runs};
  const taskhost_status status = api->register_handler(launch, &registration);
  if (status != TASKHOST_OK) return status;
  const char *settings = api->configuration(launch);
  char path[256] = "";
  const char *member = settings == NULL ? NULL : strstr(settings, "\"fifo\"");
  if (member != NULL) sscanf(member, "\"fifo\" : \"%255[^\"]\"", path);
  member = settings == NULL ? NULL : strstr(settings, "\"runs\"");
  if (member != NULL) expected_runs = strtoll(member + strcspn(member, ":") + 1, NULL, 10);
  /* Slashes may be escaped in JSON. */
  char *to = path;
  for (const char *from = path; *from != 0; from++) {
    if (*from != '\\') *to++ = *from;
  }
  *to = 0;
  /* For reading and writing: opening does not wait for the other side. */
  fifo = open(path, O_RDWR | O_CLOEXEC);
  return fifo < 0 ? TASKHOST_EINVAL : TASKHOST_OK;
}

#endif
