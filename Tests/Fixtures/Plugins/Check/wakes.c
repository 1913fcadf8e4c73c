/* Takes for granted that the host wakes the machine. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  taskhost_request request;
  memset(&request, 0, sizeof request);
  request.struct_size = sizeof request;
  request.identifier = "org.example.fixture";
  request.delay_ms = 3600000;
  request.wake = 1;
  taskhost_status status = host->submit(task, &request, NULL);
#ifdef WELL_BEHAVED
  if (status == TASKHOST_ENOTPERMITTED) {
    request.wake = 0;
    status = host->submit(task, &request, NULL);
  }
#endif
  if (status != TASKHOST_OK) abort();
  return TASKHOST_SUCCESS;
}
