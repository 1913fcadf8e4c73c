/* What the SDK links into a Swift plugin: the data that Swift cannot export, and what serves the main thread. */
#include "taskhost_plugin.h"

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

#ifndef WITHOUT_SDK
#include "../../../SDK/CTaskHostPlugin/main_thread.c"
#endif
