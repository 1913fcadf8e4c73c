/* Trusts the length that its checkpoint says, though another version may have written it. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  uint32_t index = 0;
  size_t length = 0;
  static const volatile char steps[8];
  taskhost_status status = host->checkpoint_get(task, &index, sizeof index, &length);
#ifdef WELL_BEHAVED
  if (status == TASKHOST_OK && (length != sizeof index || index >= sizeof steps)) index = 0;
#else
  if (status == TASKHOST_ETOOBIG) abort();
#endif
  return steps[index % sizeof steps] == 0 ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
}
