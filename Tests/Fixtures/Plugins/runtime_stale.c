/* Calls every function with handles that name no run of this moment. Faults: 56 (stale, foreign, random handles). */
#include "runtime_fixture.h"

static _Atomic taskhost_task earlier;

static void never(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task;
  (void)reason;
  (void)context;
  abort();
}

static taskhost_result try_all(taskhost_task task, taskhost_task wrong) {
  const void *bytes = &bytes;
  size_t length = 4711;
  char buffer[8] = "kept";
  taskhost_request request = {.struct_size = sizeof request, .identifier = "test.runtime.stale"};
  CHECK(api->payload(wrong, &bytes, &length) == TASKHOST_ESTALE && bytes == &bytes && length == 4711);
  CHECK(strlen(api->last_error()) > 0);
  CHECK(!strcmp(api->identifier(wrong), ""));
  CHECK(!strcmp(api->request_id(wrong), ""));
  CHECK(api->attempt(wrong) == 0);
  CHECK(api->remaining_ms(wrong) == INT64_MIN);
  CHECK(api->grace_ms(wrong) == 0);
  CHECK(api->is_expired(wrong) == 1);
  CHECK(api->stop_reason(wrong) == TASKHOST_STOP_NONE);
  CHECK(api->expiration_fd(wrong) == -1);
  CHECK(api->set_expiration_handler(wrong, never, NULL) == TASKHOST_ESTALE);
  CHECK(api->set_expiration_handler(wrong, NULL, NULL) == TASKHOST_ESTALE);
  CHECK(api->progress(wrong, 1, 2) == TASKHOST_ESTALE);
  CHECK(api->log(wrong, TASKHOST_ERROR, "from nobody") == TASKHOST_ESTALE);
  CHECK(api->set_output(wrong, "x", 1) == TASKHOST_ESTALE);
  CHECK(api->set_message(wrong, "from nobody") == TASKHOST_ESTALE);
  CHECK(api->retry_after(wrong, 1) == TASKHOST_ESTALE);
  CHECK(api->now_unix_ms(wrong) == 0);
  CHECK(api->sleep(wrong, 60000) == TASKHOST_ESTALE);
  CHECK(api->state_get(wrong, "k", buffer, sizeof buffer, &length) == TASKHOST_ESTALE && length == 4711);
  CHECK(api->state_set(wrong, "k", "v", 1) == TASKHOST_ESTALE);
  CHECK(api->checkpoint_get(wrong, buffer, sizeof buffer, &length) == TASKHOST_ESTALE && !strcmp(buffer, "kept"));
  CHECK(api->checkpoint_set(wrong, "v", 1) == TASKHOST_ESTALE);
  CHECK(api->submit(wrong, &request, NULL) == TASKHOST_ESTALE);
  CHECK(api->cancel(wrong, "01890a5d-ac96-774b-bcce-b302099a8057") == TASKHOST_ESTALE);
  /* Nor is it a launch. */
  CHECK(api->configuration(wrong) == NULL);
  CHECK(api->data_directory(wrong) == NULL);
  CHECK(api->launch_submit(wrong, &request) == TASKHOST_ELAUNCHED);
  CHECK(api->launch_log(wrong, TASKHOST_INFO, "x") == TASKHOST_ELAUNCHED);
  return TASKHOST_SUCCESS;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  taskhost_task wrong[] = {0, 1, ~0ull, task + 1, task - 1, task ^ 1ull << 48, task ^ 1ull << 63, task & 0xFFFFFFFFFFFFull, task >> 48,
                           0xDEADBEEFCAFEF00Dull, 0x5441534B00000001ull, atomic_load(&earlier)};
  for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) {
    if (wrong[index] == task) continue;
    taskhost_result result = try_all(task, wrong[index]);
    if (result != TASKHOST_SUCCESS) return result;
  }
  taskhost_result first = atomic_exchange(&earlier, task) ? TASKHOST_SUCCESS : TASKHOST_NOOP;
  return first;
}

RUNTIME_PLUGIN("stale", handle)
