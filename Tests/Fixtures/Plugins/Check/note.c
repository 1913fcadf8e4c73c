/* Its note says another kind than it registers. */
#include "check_fixture.h"

#ifdef WELL_BEHAVED
TASKHOST_PLUGIN_NOTE("org.example.fixture", "refresh", 0, "1.0.0");
#else
TASKHOST_PLUGIN_NOTE("org.example.fixture", "processing", 0, "1.0.0");
#endif

static taskhost_result handle(taskhost_task task, void *context) {
  (void)task;
  (void)context;
  return TASKHOST_SUCCESS;
}
