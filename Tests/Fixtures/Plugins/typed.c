/*
 * A plugin whose handler is typed: an ordinary C function, called with arguments made of the payload.
 *
 *   SIGNATURE       the signature that is registered; NULL for none
 *   FUNCTION        the function; NULL for none
 *   HANDLER         the handler that is registered beside them; NULL for none
 *   LAUNCH_PAYLOAD  a payload that the plugin submits to itself while launching
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "taskhost.h"

#ifndef SIGNATURE
#define SIGNATURE "i32(str account, i64 horizon_s, f64 ratio, bool dry_run, bytes blob, u8 small?, task)"
#endif
#ifndef FUNCTION
#define FUNCTION synchronise
#endif
#ifndef HANDLER
#define HANDLER NULL
#endif

#ifndef IDENTIFIER
#define IDENTIFIER "test.typed"
#endif

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

static const taskhost_api *host;

/* Its output says what it was given; it returns what is in `small`. */
static int32_t synchronise(const char *account, int64_t horizon_s, double ratio, bool dry_run, const void *blob, size_t length,
                           uint8_t small, taskhost_task task) {
  char text[512];
  int count = snprintf(text, sizeof text, "{\"account\":\"%s\",\"horizon_s\":%lld,\"ratio\":%g,\"dry_run\":%s,\"length\":%zu,\"last\":%d}",
                       account, (long long)horizon_s, ratio, dry_run ? "true" : "false", length,
                       length ? ((const unsigned char *)blob)[length - 1] : -1);
  host->set_output(task, text, (size_t)count);
  return small;
}

/* A result of its own choice. */
static taskhost_result choose(int32_t result, taskhost_task task) {
  if (result == TASKHOST_FAILURE) host->set_message(task, "chosen");
  return result;
}

/* Submits a payload to the plugin's own identifier; answers with the status and its sentence. */
static const char *submit(const char *payload, taskhost_task task) {
  static _Thread_local char answer[512];
  taskhost_request request = {.struct_size = sizeof request, .identifier = IDENTIFIER, .payload = payload, .payload_length = strlen(payload)};
  taskhost_status status = host->submit(task, &request, NULL);
  snprintf(answer, sizeof answer, "%d %s", status, status == TASKHOST_OK ? "" : host->last_error());
  return answer;
}

/* The payload itself is there for a typed handler too. */
static const char *payload_of(int32_t number, taskhost_task task) {
  (void)number;
  const void *bytes = NULL;
  size_t length = 0;
  host->payload(task, &bytes, &length);
  return bytes;
}

static int32_t crash(int32_t number) {
  volatile int *nowhere = NULL;
  return *nowhere + number;
}

static void wait_for_ever(taskhost_task task) {
  while (host->sleep(task, 1000) == TASKHOST_OK) continue;
}

/* Keeps the compiler from leaving out what this build does not register. */
TASKHOST_EXPORT void (*const typed_functions[])(void) = {
    (void (*)(void))synchronise, (void (*)(void))choose,        (void (*)(void))submit,
    (void (*)(void))payload_of,  (void (*)(void))wait_for_ever, (void (*)(void))crash,
};

TASKHOST_EXPORT taskhost_result ordinary(taskhost_task task, void *context) {
  (void)task, (void)context;
  return TASKHOST_SUCCESS;
}

taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  taskhost_registration registration = {.struct_size = sizeof registration,
                                        .kind = TASKHOST_PROCESSING,
                                        .identifier = IDENTIFIER,
                                        .handler = HANDLER,
                                        .signature = SIGNATURE,
                                        .function = (void (*)(void))FUNCTION};
  taskhost_status status = api->register_handler(launch, &registration);
#ifdef LAUNCH_PAYLOAD
  if (status == TASKHOST_OK) {
    taskhost_request request = {
        .struct_size = sizeof request, .identifier = IDENTIFIER, .payload = LAUNCH_PAYLOAD, .payload_length = strlen(LAUNCH_PAYLOAD)};
    status = api->launch_submit(launch, &request);
  }
#endif
  return status;
}
