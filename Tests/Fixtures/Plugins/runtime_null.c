/* Passes NULL, wrong sizes and numbers out of range in every argument. Faults: 57, 68, 69, 70, 76. */
#include "runtime_fixture.h"

/* What the host says to a conflict policy that its version may not have. */
#ifndef APPEND_STATUS
#define APPEND_STATUS TASKHOST_OK
#endif

static char big[1 << 21];

/* A struct of a later header: version 1 and a tail. */
typedef struct {
  taskhost_request request;
  unsigned char tail[4096 - sizeof(taskhost_request) + 16];
} later_request;

static taskhost_result sizes(taskhost_task task) {
  later_request later = {.request = {.identifier = "test.runtime.null"}};
  const uint32_t refused[] = {0, 1, sizeof(taskhost_request) - 1, 4097, 4294967295u};
  for (size_t index = 0; index < sizeof refused / sizeof *refused; index++) {
    later.request.struct_size = refused[index];
    CHECK(api->submit(task, &later.request, NULL) == TASKHOST_EINVAL);
  }
  later.request.struct_size = 4096;
  CHECK(api->submit(task, &later.request, NULL) == TASKHOST_OK);
  later.tail[4095 - sizeof(taskhost_request)] = 1;
  CHECK(api->submit(task, &later.request, NULL) == TASKHOST_EUNSUPPORTED);
  later.request.struct_size = 4095;
  CHECK(api->submit(task, &later.request, NULL) == TASKHOST_OK);
  later.request.struct_size = sizeof(taskhost_request);

  struct {
    taskhost_submission submission;
    unsigned char tail[64];
  } answer = {.submission = {.struct_size = 0}};
  CHECK(api->submit(task, &later.request, &answer.submission) == TASKHOST_EINVAL);
  answer.submission.struct_size = sizeof(taskhost_submission) - 1;
  CHECK(api->submit(task, &later.request, &answer.submission) == TASKHOST_EINVAL);
  answer.submission.struct_size = 4294967295u;
  CHECK(api->submit(task, &later.request, &answer.submission) == TASKHOST_EINVAL);
  answer.submission.struct_size = sizeof answer;
  answer.tail[63] = 1;
  CHECK(api->submit(task, &later.request, &answer.submission) == TASKHOST_EUNSUPPORTED);
  answer.tail[63] = 0;
  CHECK(api->submit(task, &later.request, &answer.submission) == TASKHOST_OK);
  CHECK(strlen(answer.submission.request_id) == 36 && answer.submission.struct_size == sizeof answer);
  return TASKHOST_SUCCESS;
}

static taskhost_result requests(taskhost_task task) {
  const taskhost_request good = {.struct_size = sizeof good, .identifier = "test.runtime.null"};
  taskhost_request bad;
#define REFUSED(status, change) (bad = good, change, api->submit(task, &bad, NULL) == (status))
  CHECK(api->submit(task, NULL, NULL) == TASKHOST_EINVAL);
  CHECK(REFUSED(TASKHOST_EINVAL, bad.identifier = NULL));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.identifier = ""));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.identifier = "\xff\xfe"));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.identifier = big));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.conditions = 64));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.after_count = 1));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.tags_count = 1));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.resources_count = 1));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.tags_count = 4294967295u, bad.tags = (const char *const *)(uintptr_t)16)));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.after_count = 4294967295u, bad.after = (const taskhost_predecessor *)(uintptr_t)16)));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.resources_count = 4294967295u, bad.resources = (const taskhost_resource *)(uintptr_t)16)));
  const char *const nothing[] = {NULL};
  const taskhost_predecessor nobody[] = {{.request = NULL}, {.request = "x"}, {.request = "", .reserved = 1}};
  const taskhost_resource twice[] = {{.name = "a", .tokens = 1}, {.name = "a", .tokens = 1}, {.name = NULL}};
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.tags_count = 1, bad.tags = nothing)));
  for (int index = 0; index < 3; index++) CHECK(REFUSED(TASKHOST_EINVAL, (bad.after_count = 1, bad.after = nobody + index)));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.resources_count = 2, bad.resources = twice)));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.resources_count = 1, bad.resources = twice + 2)));
  const taskhost_retry wrong[] = {{.struct_size = 0}, {.struct_size = sizeof(taskhost_retry), .backoff = 2},
                                  {.struct_size = sizeof(taskhost_retry), .reserved = 1},
                                  {.struct_size = sizeof(taskhost_retry), .attempts = 4294967295u},
                                  {.struct_size = sizeof(taskhost_retry), .initial_ms = UINT64_MAX},
                                  {.struct_size = sizeof(taskhost_retry), .maximum_ms = UINT64_MAX}};
  for (size_t index = 0; index < sizeof wrong / sizeof *wrong; index++) CHECK(REFUSED(TASKHOST_EINVAL, bad.retry = wrong + index));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.every_ms = UINT64_MAX));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.delay_ms = UINT64_MAX));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.flex_ms = UINT64_MAX));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.deadline_unix_ms = INT64_MIN));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.priority = INT32_MIN));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.on_lost_condition = 3));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.every_event = 1));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.event = "e", bad.every_event = 2)));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.wake = 2));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.wake = UINT32_MAX));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.reserved2 = 1));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.debounce_ms = 1));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.every_ms = 900000, bad.cron = "@daily")));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.delay_ms = 1, bad.earliest_begin_unix_ms = TASKHOST_BEGIN_PACED)));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.time_zone = "UTC"));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.cron = "@daily", bad.time_zone = "")));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.cron = "@daily", bad.daylight_gap = 2)));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.cron = "@daily", bad.daylight_repeat = 3)));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.every_ms = 900000, bad.missed = 3)));
  CHECK(REFUSED(TASKHOST_EINVAL, (bad.every_ms = 900000, bad.missed_limit = 1)));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.unique_window_ms = 1));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.payload_length = 1));
  CHECK(REFUSED(TASKHOST_ETOOBIG, (bad.payload = big, bad.payload_length = 65537)));
  CHECK(REFUSED(TASKHOST_ETOOBIG, (bad.payload = big, bad.payload_length = UINT64_MAX)));
  CHECK(REFUSED(TASKHOST_ETOOBIG, (bad.payload = big, bad.payload_length = 1ull << 63)));
  CHECK(REFUSED(TASKHOST_OK, (bad.payload = big, bad.payload_length = 65536)));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.earliest_begin_unix_ms = -2));
  CHECK(REFUSED(TASKHOST_OK, bad.earliest_begin_unix_ms = TASKHOST_BEGIN_PACED));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.on_conflict = 5));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.on_conflict = TASKHOST_CONFLICT_KEEP));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.unique_key = ""));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.unique_key = big));
  CHECK(REFUSED(TASKHOST_EINVAL, bad.reserved = 1));
  CHECK(REFUSED(APPEND_STATUS, (bad.unique_key = "k", bad.on_conflict = TASKHOST_CONFLICT_APPEND)));
  CHECK(api->cancel(task, NULL) == TASKHOST_EINVAL);
  CHECK(api->cancel(task, "") == TASKHOST_EINVAL);
  CHECK(api->cancel(task, big) == TASKHOST_EINVAL);
  return TASKHOST_SUCCESS;
}

static taskhost_result values(taskhost_task task) {
  char buffer[16];
  size_t length = 0;
  CHECK(api->state_get(task, NULL, buffer, 16, &length) == TASKHOST_EINVAL);
  CHECK(api->state_get(task, "", buffer, 16, &length) == TASKHOST_EINVAL);
  CHECK(api->state_get(task, "k", NULL, 16, &length) == TASKHOST_EINVAL);
  CHECK(api->state_get(task, "k", buffer, 16, NULL) == TASKHOST_EINVAL);
  CHECK(api->state_get(task, "k", buffer, 16, &length) == TASKHOST_ENOTFOUND);
  CHECK(api->state_set(task, NULL, "v", 1) == TASKHOST_EINVAL);
  CHECK(api->state_set(task, "", "v", 1) == TASKHOST_EINVAL);
  CHECK(api->state_set(task, big, "v", 1) == TASKHOST_ETOOBIG);
  CHECK(api->state_set(task, "k", NULL, 1) == TASKHOST_EINVAL);
  CHECK(api->state_set(task, "k", big, (1 << 20) + 1) == TASKHOST_ETOOBIG);
  CHECK(api->state_set(task, "k", big, SIZE_MAX) == TASKHOST_ETOOBIG);
  CHECK(api->state_set(task, "k", "value", 5) == TASKHOST_OK);
  CHECK(api->state_get(task, "k", NULL, 0, &length) == TASKHOST_ETOOBIG && length == 5);
  CHECK(api->state_get(task, "k", buffer, 4, &length) == TASKHOST_ETOOBIG && length == 5);
  CHECK(api->state_get(task, "k", buffer, SIZE_MAX, &length) == TASKHOST_OK && !memcmp(buffer, "value", 5));
  CHECK(api->state_set(task, "k", "", 0) == TASKHOST_OK);
  CHECK(api->state_get(task, "k", NULL, 0, &length) == TASKHOST_OK && length == 0);
  CHECK(api->state_set(task, "k", NULL, 0) == TASKHOST_OK);
  CHECK(api->state_get(task, "k", NULL, 0, &length) == TASKHOST_ENOTFOUND);
  CHECK(api->checkpoint_get(task, buffer, 16, NULL) == TASKHOST_EINVAL);
  CHECK(api->checkpoint_get(task, NULL, 16, &length) == TASKHOST_EINVAL);
  CHECK(api->checkpoint_get(task, buffer, 16, &length) == TASKHOST_ENOTFOUND);
  CHECK(api->checkpoint_set(task, NULL, 1) == TASKHOST_EINVAL);
  CHECK(api->checkpoint_set(task, big, (1 << 20) + 1) == TASKHOST_ETOOBIG);
  CHECK(api->checkpoint_set(task, "here", 4) == TASKHOST_OK);
  CHECK(api->checkpoint_get(task, buffer, 16, &length) == TASKHOST_OK && length == 4);
  CHECK(api->checkpoint_set(task, "", 0) == TASKHOST_OK);
  CHECK(api->checkpoint_get(task, NULL, 0, &length) == TASKHOST_OK && length == 0);
  CHECK(api->checkpoint_set(task, NULL, 0) == TASKHOST_OK);
  CHECK(api->checkpoint_get(task, NULL, 0, &length) == TASKHOST_ENOTFOUND);
  return TASKHOST_SUCCESS;
}

static taskhost_result rest(taskhost_task task) {
  const void *bytes;
  size_t length;
  CHECK(!strcmp(api->last_error(), api->last_error()));
  CHECK(api->payload(task, NULL, &length) == TASKHOST_EINVAL);
  CHECK(api->payload(task, &bytes, NULL) == TASKHOST_EINVAL);
  CHECK(api->payload(task, &bytes, &length) == TASKHOST_OK && bytes && length == 0 && *(const char *)bytes == 0);
  CHECK(api->log(task, TASKHOST_INFO, NULL) == TASKHOST_EINVAL);
  CHECK(api->log(task, -1, "x") == TASKHOST_EINVAL);
  CHECK(api->log(task, 6, "x") == TASKHOST_EINVAL);
  CHECK(api->log(task, INT32_MIN, "x") == TASKHOST_EINVAL);
  CHECK(api->set_message(task, NULL) == TASKHOST_EINVAL);
  CHECK(api->set_output(task, NULL, 1) == TASKHOST_EINVAL);
  CHECK(api->set_output(task, big, 65537) == TASKHOST_ETOOBIG);
  CHECK(api->set_output(task, big, SIZE_MAX) == TASKHOST_ETOOBIG);
  CHECK(api->set_output(task, big, (size_t)1 << 63) == TASKHOST_ETOOBIG);
  CHECK(api->set_output(task, big, 65536) == TASKHOST_OK);
  CHECK(api->set_output(task, NULL, 0) == TASKHOST_OK);
  CHECK(api->set_expiration_handler(task, NULL, NULL) == TASKHOST_OK);
  CHECK(api->progress(task, UINT64_MAX, 0) == TASKHOST_OK);
  CHECK(api->progress(task, UINT64_MAX, 7) == TASKHOST_OK);
  CHECK(api->retry_after(task, UINT64_MAX) == TASKHOST_OK);
  CHECK(api->extension(NULL) == NULL);
  CHECK(api->extension("org.taskhost.nothing/1") == NULL);
  return TASKHOST_SUCCESS;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
#ifdef ONCE
  /* What it submits to itself are not to submit again. */
  size_t known;
  if (api->state_get(task, "ran", NULL, 0, &known) != TASKHOST_ENOTFOUND) return TASKHOST_SUCCESS;
  CHECK(api->state_set(task, "ran", "1", 1) == TASKHOST_OK);
#endif
  memset(big, 'a', sizeof big - 1);
  taskhost_result (*parts[])(taskhost_task) = {sizes, requests, values, rest};
  for (size_t index = 0; index < sizeof parts / sizeof *parts; index++) {
    taskhost_result result = parts[index](task);
    if (result != TASKHOST_SUCCESS) return result;
  }
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("null", handle)
