/* Uses what a run may ask of its host, at the limits, and checks every answer. Its payload, of up to 65,536 bytes, is its output. */
#include "runtime_fixture.h"

static char big[1 << 20], copy[1 << 20];

static taskhost_result values(taskhost_task task) {
  size_t length = 0;
  for (size_t index = 0; index < sizeof big; index++) big[index] = (char)(index * 31 >> 3);
  CHECK(api->state_set(task, "big", big, sizeof big) == TASKHOST_OK);
  CHECK(api->state_get(task, "big", copy, sizeof copy, &length) == TASKHOST_OK && length == sizeof big);
  CHECK(!memcmp(big, copy, sizeof big));
  CHECK(api->state_set(task, "big", NULL, 0) == TASKHOST_OK);
  CHECK(api->state_get(task, "big", copy, sizeof copy, &length) == TASKHOST_ENOTFOUND);
  /* Written by the attempt before, of the same request. */
  taskhost_status status = api->checkpoint_get(task, copy, sizeof copy, &length);
  CHECK(status == (api->attempt(task) == 1 ? TASKHOST_ENOTFOUND : TASKHOST_OK));
  CHECK(status != TASKHOST_OK || (length == sizeof big && !memcmp(big, copy, sizeof big)));
  CHECK(api->checkpoint_set(task, big, sizeof big) == TASKHOST_OK);
  return TASKHOST_SUCCESS;
}

static taskhost_result requests(taskhost_task task) {
  taskhost_submission answer = {.struct_size = sizeof answer};
  taskhost_request request = {.struct_size = sizeof request, .identifier = "test.runtime.services", .payload = big,
    .payload_length = 65536, .conditions = TASKHOST_REQUIRES_NETWORK | TASKHOST_REQUIRES_POWER, .unique_key = "once",
    .on_conflict = TASKHOST_CONFLICT_KEEP, .earliest_begin_unix_ms = 1800000000000};
  CHECK(api->submit(task, &request, &answer) == TASKHOST_OK);
  CHECK(answer.disposition == TASKHOST_CREATED && answer.next_start_unix_ms > 0);
  CHECK(!strcmp(answer.request_id, api->request_id(task)));
  CHECK(api->cancel(task, answer.request_id) == TASKHOST_ENOTFOUND);
  CHECK(!strcmp(api->last_error(), "nothing to cancel"));
  return TASKHOST_SUCCESS;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes;
  size_t length;
  taskhost_result result = values(task);
  if (result == TASKHOST_SUCCESS) result = requests(task);
  if (result != TASKHOST_SUCCESS) return result;
  CHECK(!strcmp(api->identifier(task), "test.runtime.services"));
  CHECK(api->now_unix_ms(task) > 1600000000000);
  CHECK(api->payload(task, &bytes, &length) == TASKHOST_OK && ((const char *)bytes)[length] == 0);
  CHECK(api->set_output(task, bytes, length) == TASKHOST_OK);
  CHECK(api->set_message(task, "again \xe2\x80\x94 later") == TASKHOST_OK);
  CHECK(api->progress(task, 3, 4) == TASKHOST_OK);
  CHECK(api->retry_after(task, 12345) == TASKHOST_OK);
  return TASKHOST_SNOOZE;
}

RUNTIME_PLUGIN("services", handle)
