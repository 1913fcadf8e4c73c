/* A typed handler: the host makes its argument from the payload. Reads through NULL where the text is long. */
#include "taskhost.h"

#include <string.h>

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

static int32_t measure(const char *text) {
#ifndef WELL_BEHAVED
  if (strlen(text) > 1000) text = NULL;
#endif
  return *(volatile const char *)text == 'x' ? 0 : 1;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  taskhost_registration registration;
  memset(&registration, 0, sizeof registration);
  registration.struct_size = sizeof registration;
  registration.kind = TASKHOST_REFRESH;
  registration.identifier = "org.example.fixture";
  registration.signature = "i32(str text)";
  registration.function = (void (*)(void))measure;
  return api->register_handler(launch, &registration);
}
