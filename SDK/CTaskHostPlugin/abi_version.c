/* Swift cannot export a data symbol, so the SDK exports this one for every plugin that links it. */
#include "taskhost_plugin.h"

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;
