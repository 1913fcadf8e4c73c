/* What Swift cannot export: data. Linked with faulty_swift.swift. */
#include "taskhost.h"

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;
