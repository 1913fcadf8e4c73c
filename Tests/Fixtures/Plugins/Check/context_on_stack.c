/* Returns with an expiration handler set whose context is on its stack. */
#include "check_fixture.h"

static void on_expiration(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task;
  (void)reason;
  atomic_store((atomic_bool *)context, true);
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  atomic_bool stop = false;
  if (host->set_expiration_handler(task, on_expiration, &stop) == TASKHOST_EEXPIRED) return TASKHOST_RETRY;
  host->sleep(task, 5);
  taskhost_result result = atomic_load(&stop) ? TASKHOST_RETRY : TASKHOST_SUCCESS;
#ifdef WELL_BEHAVED
  host->set_expiration_handler(task, NULL, NULL);
#endif
  return result;
}
