/* Takes the answer to a submission for granted. */
#include "check_fixture.h"

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  taskhost_request request;
  memset(&request, 0, sizeof request);
  request.struct_size = sizeof request;
  request.identifier = "org.example.fixture";
  taskhost_submission submission;
  memset(&submission, 0, sizeof submission);
  submission.struct_size = sizeof submission;
  taskhost_status status = host->submit(task, &request, &submission);
#ifdef WELL_BEHAVED
  if (status != TASKHOST_OK) return TASKHOST_RETRY;
#endif
  if (status != TASKHOST_OK || submission.request_id[0] == 0) abort();
  return TASKHOST_SUCCESS;
}
