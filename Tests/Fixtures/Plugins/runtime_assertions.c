/*
 * Takes execution assertions, with requests at their limits, and checks every answer: what is refused, what is left, that the expiration
 * handler is called once and is waited for, and that it is not called after the end. It leaves one to the end of its run.
 */
#include "runtime_fixture.h"

static const taskhost_assertions *assertions;

typedef struct {
  sem_t called;
  atomic_int calls;
  atomic_int returned;
  taskhost_status ended_inside;
  taskhost_assertion seen;
} watch;

static void on_expiry(taskhost_task task, taskhost_assertion assertion, void *context) {
  watch *seen = context;
  atomic_fetch_add(&seen->calls, 1);
  seen->seen = assertion;
  seen->ended_inside = assertions->end(task, assertion);
  sem_post(&seen->called);
  poll(NULL, 0, 50);
  atomic_store(&seen->returned, 1);
}

static taskhost_status take(taskhost_task task, uint64_t length, watch *seen, taskhost_assertion *assertion) {
  const taskhost_assertion_request request = {.struct_size = sizeof request, .name = "fixture", .reason = "a test", .for_ms = length,
    .expired = seen ? on_expiry : NULL, .context = seen};
  return assertions->begin(task, &request, assertion);
}

static taskhost_result refusals(taskhost_task task) {
  taskhost_assertion assertion = 7;
  const taskhost_assertion_request good = {.struct_size = sizeof good, .name = "fixture"};
  CHECK(assertions->begin(0, &good, &assertion) == TASKHOST_ESTALE && assertions->begin(task ^ 1, &good, &assertion) == TASKHOST_ESTALE);
  CHECK(assertions->begin(task, NULL, &assertion) == TASKHOST_EINVAL && assertions->begin(task, &good, NULL) == TASKHOST_EINVAL);
  CHECK(strlen(api->last_error()) > 0);
  static char big[1100];
  memset(big, 'x', sizeof big - 1);
  taskhost_assertion_request bad[] = {good, good, good, good, good, good, good};
  bad[0].struct_size = sizeof good - 1;
  bad[1].name = NULL;
  bad[2].name = "";
  bad[3].name = big;
  bad[4].reason = big;
  bad[5].for_ms = 600001;
  bad[6].reserved = 1;
  for (size_t index = 0; index < sizeof bad / sizeof *bad; index++) CHECK(assertions->begin(task, &bad[index], &assertion) == TASKHOST_EINVAL);
  bad[0] = good;
  bad[0].for_ms = UINT64_MAX;
  CHECK(assertions->begin(task, &bad[0], &assertion) == TASKHOST_EINVAL);
  CHECK(assertion == 7);
  CHECK(assertions->end(task, 0) == TASKHOST_ENOTFOUND && assertions->end(task, UINT64_MAX) == TASKHOST_ENOTFOUND);
  CHECK(assertions->end(0, 1) == TASKHOST_ESTALE);
  CHECK(assertions->remaining_ms(task, 99) == INT64_MIN && assertions->remaining_ms(0, 1) == INT64_MIN);
  return TASKHOST_SUCCESS;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  assertions = api->extension(TASKHOST_EXTENSION_ASSERTIONS);
  CHECK(assertions != NULL && assertions->struct_size == sizeof *assertions && assertions->reserved == 0);
  CHECK(api->extension("org.taskhost.assertions/2") == NULL);
  taskhost_result result = refusals(task);
  if (result != TASKHOST_SUCCESS) return result;

  taskhost_assertion first = 0, second = 0, third = 0, fourth = 0;
  static watch unused;
  CHECK(take(task, 0, &unused, &first) == TASKHOST_OK && first != 0);
  int64_t left = assertions->remaining_ms(task, first);
  CHECK(left > 0 && left <= 30000);
  CHECK(take(task, 600000, NULL, &second) == TASKHOST_OK && second != first);
  CHECK(take(task, 600000, NULL, &third) == TASKHOST_OK);
  CHECK(take(task, 600000, NULL, &fourth) == TASKHOST_ELIMIT && fourth == 0);
  CHECK(assertions->end(task, first) == TASKHOST_OK && assertions->end(task, first) == TASKHOST_ENOTFOUND);
  CHECK(assertions->end(task, second) == TASKHOST_OK);

  watch seen = {.calls = 0};
  sem_init(&seen.called, 0, 0);
  taskhost_assertion brief = 0;
  CHECK(take(task, 1, &seen, &brief) == TASKHOST_OK);
  await(&seen.called);
  CHECK(assertions->remaining_ms(task, brief) == 0);
  CHECK(assertions->end(task, brief) == TASKHOST_EEXPIRED);
  CHECK(atomic_load(&seen.returned) == 1 && atomic_load(&seen.calls) == 1);
  CHECK(seen.seen == brief && seen.ended_inside == TASKHOST_EEXPIRED);
  CHECK(assertions->end(task, brief) == TASKHOST_ENOTFOUND);
  CHECK(atomic_load(&unused.calls) == 0);
  CHECK(api->is_expired(task) == 0);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("assertions", handle)
