/* One app registers several launch handlers; without this symbol a plugin has one. */
#include "background_tasks.h"

TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit = 64;
