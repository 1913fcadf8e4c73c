#include "taskhost.h"

/* As @TYPE@Task registers: identifier, kind, budget_ms (0: the kind's), version; and the Swift it is built with. */
TASKHOST_PLUGIN_NOTE_SWIFT("@IDENTIFIER@", "@KIND@", 0, "0.1.0", "@SWIFT@");
