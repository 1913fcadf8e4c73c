/*
 * A plugin with two handlers that uses org.taskhost.requests/1, and checks every answer. Its payload
 * names what it does. Launching, it submits two requests, and cancels the first. -DTHREE: it registers one handler too many.
 */
#include <stdio.h>
#include <string.h>

#include "taskhost.h"

static const taskhost_api *api;
static const taskhost_requests *requests;
static taskhost_launch kept;

#define CHECK(condition) \
  do { \
    if (!(condition)) { \
      char text[512]; \
      snprintf(text, sizeof text, "line %d: %s: %s", __LINE__, #condition, api->last_error()); \
      api->set_message(task, text); \
      return TASKHOST_FAILURE; \
    } \
  } while (0)

typedef struct {
  char text[1024];
  int count;
} listing;

static void visit(const taskhost_pending_request *request, void *context) {
  listing *self = context;
  size_t length = strlen(self->text);
  snprintf(self->text + length, sizeof self->text - length, "%s %.*s attempt %u kind %d;", request->identifier,
           (int)request->payload_length, (const char *)request->payload, request->attempt, request->kind);
  self->count++;
}

static taskhost_status submit(taskhost_task task, const char *identifier, const char *payload, int64_t delay) {
  taskhost_request request = {.struct_size = sizeof request, .identifier = identifier, .payload = payload,
    .payload_length = strlen(payload), .earliest_begin_unix_ms = delay ? api->now_unix_ms(task) + delay : 0};
  return api->submit(task, &request, NULL);
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *payload;
  size_t length;
  uint64_t count = 4711;
  listing seen = {.text = ""};
  CHECK(api->payload(task, &payload, &length) == TASKHOST_OK);
  if (strcmp(payload, "use")) return TASKHOST_NOOP;
  CHECK(requests->list(task, NULL, NULL) == TASKHOST_EINVAL);
  CHECK(requests->list(0, visit, &seen) == TASKHOST_ESTALE);
  CHECK(submit(task, "org.example.first", "a", 0) == TASKHOST_OK);
  CHECK(submit(task, "org.example.second", "b", 3600000) == TASKHOST_OK);
  CHECK(submit(task, "org.example.second", "c", 0) == TASKHOST_OK);
  CHECK(submit(task, "org.example.third", "d", 0) == TASKHOST_ENOTPERMITTED);
  CHECK(requests->list(task, visit, &seen) == TASKHOST_OK && seen.count == 4);
  CHECK(!strcmp(seen.text, "org.example.second kept attempt 1 kind 2;"
                           "org.example.first a attempt 1 kind 1;org.example.second b attempt 1 kind 2;"
                           "org.example.second c attempt 1 kind 2;"));
  CHECK(requests->cancel_identifier(task, NULL, NULL) == TASKHOST_EINVAL);
  CHECK(requests->cancel_identifier(task, "org.example.third", &count) == TASKHOST_ENOTPERMITTED && count == 4711);
  CHECK(requests->cancel_identifier(task, "org.example.second", &count) == TASKHOST_OK && count == 3);
  CHECK(requests->cancel_all(task, &count) == TASKHOST_OK && count == 1);
  CHECK(requests->cancel_all(task, NULL) == TASKHOST_OK);
  CHECK(requests->launch_list(kept, visit, &seen) == TASKHOST_ELAUNCHED);
  CHECK(requests->launch_cancel(kept, NULL) == TASKHOST_ELAUNCHED);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;
TASKHOST_EXPORT const uint32_t taskhost_plugin_handler_limit = 2;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  kept = launch;
  requests = api->extension(TASKHOST_EXTENSION_REQUESTS);
  if (!requests || requests->struct_size < sizeof *requests) return TASKHOST_EUNSUPPORTED;
  listing seen = {.text = ""};
  if (requests->launch_list(launch, visit, &seen) != TASKHOST_ENOTPERMITTED) return TASKHOST_EINTERNAL;
  taskhost_registration registration = {.struct_size = sizeof registration, .kind = TASKHOST_REFRESH,
    .identifier = "org.example.first", .handler = handle};
  taskhost_status status = api->register_handler(launch, &registration);
  if (status != TASKHOST_OK) return status;
  registration.identifier = "org.example.second";
  registration.kind = TASKHOST_PROCESSING;
  status = api->register_handler(launch, &registration);
  if (status != TASKHOST_OK) return status;
#ifdef THREE
  registration.identifier = "org.example.third";
  if (api->register_handler(launch, &registration) != TASKHOST_EEXISTS) return TASKHOST_EINTERNAL;
#endif
  taskhost_request request = {.struct_size = sizeof request, .identifier = "org.example.second", .payload = "held", .payload_length = 4};
  status = api->launch_submit(launch, &request);
  if (status != TASKHOST_OK) return status;
  if (requests->launch_cancel(launch, "org.example.other") != TASKHOST_ENOTPERMITTED) return TASKHOST_EINTERNAL;
  status = requests->launch_cancel(launch, "org.example.second");
  if (status != TASKHOST_OK) return status;
  request.payload = "kept";
  return api->launch_submit(launch, &request);
}
