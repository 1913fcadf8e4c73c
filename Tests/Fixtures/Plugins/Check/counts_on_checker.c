/* Uses a function of a library that the checker happens to have loaded, without linking it. */
#include "check_fixture.h"

#ifdef WELL_BEHAVED
static const char *sqlite3_libversion(void) { return "none"; }
#else
extern const char *sqlite3_libversion(void);
#endif

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  return host->log(task, TASKHOST_INFO, sqlite3_libversion()) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
}
