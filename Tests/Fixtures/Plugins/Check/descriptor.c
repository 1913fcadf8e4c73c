/* Closes (WHAT 1) or reads (WHAT 2) the descriptor that it may only poll. */
#include "check_fixture.h"

#include <poll.h>

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  int descriptor = host->expiration_fd(task);
  struct pollfd entry = {.fd = descriptor, .events = POLLIN};
  int ready = poll(&entry, 1, 100);
#ifndef WELL_BEHAVED
#if WHAT == 1
  close(descriptor);
#else
  uint64_t count;
  if (ready > 0 && read(descriptor, &count, sizeof count) < 0) return TASKHOST_FAILURE;
#endif
#endif
  return ready > 0 ? TASKHOST_RETRY : TASKHOST_SUCCESS;
}
