/* Asks with an old handle, WHAT is 1 is_expired, 2 grace_ms, 3 stop_reason, 4 the extension for requests, 5 the launch's handle,
 * 6 the extension for records, 7 the second one for requests, 8 the extension for assertions. */
#define OWN_LAUNCH
#include "check_fixture.h"

static taskhost_launch kept_launch;

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  static taskhost_task kept;
#ifdef WELL_BEHAVED
  kept = task;
#endif
  if (kept == 0) {
    kept = task;
    return TASKHOST_SUCCESS;
  }
#if WHAT == 1
  (void)host->is_expired(kept);
#elif WHAT == 2
  (void)host->grace_ms(kept);
#elif WHAT == 3
  (void)host->stop_reason(kept);
#elif WHAT == 4
  const taskhost_requests *requests = host->extension(TASKHOST_EXTENSION_REQUESTS);
  if (requests != NULL) (void)requests->cancel_all(kept, NULL);
#elif WHAT == 6
  const taskhost_records *records = host->extension(TASKHOST_EXTENSION_RECORDS);
  const taskhost_work work = {.struct_size = sizeof work, .items_completed = 1};
  if (records != NULL) (void)records->work(kept, &work);
#elif WHAT == 7
  const taskhost_requests_2 *requests = host->extension(TASKHOST_EXTENSION_REQUESTS_2);
  if (requests != NULL) (void)requests->notify_event(kept, "org.example.fixture", NULL, 0, NULL);
#elif WHAT == 8
  const taskhost_assertions *assertions = host->extension(TASKHOST_EXTENSION_ASSERTIONS);
  if (assertions != NULL) (void)assertions->end(kept, 1);
#elif !defined(WELL_BEHAVED)
  (void)host->configuration(kept_launch);
#endif
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  kept_launch = launch;
  return register_fixture(api, launch, "1.0.0");
}
