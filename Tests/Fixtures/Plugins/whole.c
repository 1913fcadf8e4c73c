/* Submits requests with every field of taskhost_request. The payload says which; the output names what was submitted, or the refusal. */
#include "taskhost.h"

#include <stdio.h>
#include <string.h>

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

static const taskhost_api *host;

static const taskhost_retry retry = {
    .struct_size = sizeof retry, .attempts = 7, .backoff = TASKHOST_BACKOFF_LINEAR, .initial_ms = 2000, .maximum_ms = 9000};
static const char *const tags[] = {"first", "second"};
static const taskhost_resource resources[] = {{.name = "gpu", .tokens = 2}};

static taskhost_request work(const char *payload) {
  return (taskhost_request){
      .struct_size = sizeof(taskhost_request), .identifier = IDENTIFIER, .payload = payload, .payload_length = strlen(payload)};
}

/* Every field of a request that runs once. */
static taskhost_request once(const taskhost_predecessor *after, int64_t now) {
  taskhost_request request = work("{\"do\":\"work\"}");
  request.conditions = TASKHOST_REQUIRES_POWER | TASKHOST_REQUIRES_STORAGE_NOT_LOW;
  request.unique_key = "only";
  request.on_conflict = TASKHOST_CONFLICT_UPDATE;
  request.deadline_unix_ms = now + 7200000;
  request.delay_ms = 3600000;
  request.flex_ms = 60000;
  request.priority = -3;
  request.retry = &retry;
  request.on_lost_condition = TASKHOST_LOST_CONDITION_FINISH;
  request.after = after;
  request.after_count = after ? 1 : 0;
  request.tags = tags;
  request.tags_count = 2;
  request.resources = resources;
  request.resources_count = 1;
  request.window = "night";
  request.concurrency_key = "account-1";
  request.prefer = "eu-west";
  request.idempotency_key = IDENTIFIER "/1";
  request.unique_window_ms = 600000;
  return request;
}

static taskhost_request daily(void) {
  taskhost_request request = work("{\"do\":\"work\"}");
  request.unique_key = "daily";
  request.on_conflict = TASKHOST_CONFLICT_KEEP;
  request.cron = "30 2 * * *";
  request.time_zone = "Europe/Berlin";
  request.daylight_gap = TASKHOST_GAP_SKIP;
  request.daylight_repeat = TASKHOST_REPEAT_BOTH;
  request.missed = TASKHOST_MISSED_ALL;
  request.missed_limit = 3;
  request.missed_spread_ms = 1000;
  return request;
}

static taskhost_request awaiting(const char *event, uint32_t every) {
  taskhost_request request = work("{\"do\":\"work\"}");
  request.event = event;
  request.debounce_ms = 10;
  request.every_event = every;
  return request;
}

static taskhost_request waking(void) {
  taskhost_request request = work("{\"do\":\"work\"}");
  request.delay_ms = 3600000;
  request.wake = 1;
  return request;
}

/* Each run's own: what a run submits may begin on another thread before the run has ended. */
static _Thread_local char answer[1024];

static taskhost_status submit(taskhost_task task, taskhost_request request, char *id) {
  taskhost_submission submission = {.struct_size = sizeof submission};
  taskhost_status status = host->submit(task, &request, &submission);
  size_t used = strlen(answer);
  if (status == TASKHOST_OK) snprintf(answer + used, sizeof answer - used, "%s\n", submission.request_id);
  else snprintf(answer + used, sizeof answer - used, "%d %s\n", status, host->last_error());
  if (id) memcpy(id, submission.request_id, sizeof submission.request_id);
  return status;
}

/* Lets a request wake the machine by an update. */
static void rewake(taskhost_task task, const char *id) {
  const taskhost_requests_2 *requests = host->extension(TASKHOST_EXTENSION_REQUESTS_2);
  taskhost_request request = waking();
  taskhost_status status = requests->update(task, id, &request, NULL);
  size_t used = strlen(answer);
  if (status != TASKHOST_OK) snprintf(answer + used, sizeof answer - used, "%d %s\n", status, host->last_error());
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *bytes;
  size_t length;
  if (host->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_RETRY;
  const char *payload = bytes;
  int64_t now = host->now_unix_ms(task);
  char id[40];
  taskhost_request request;
  answer[0] = 0;
#define IS(text) (strstr(payload, "\"" text) != NULL)
  if (IS("work")) {
    fprintf(stderr, "worked on %s\n", payload);
    const char *output = "{\"worked\":true}";
    return host->set_output(task, output, strlen(output)) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
  } else if (IS("once")) {
    request = work("{\"do\":\"work\"}");
    request.delay_ms = 3600000;
    submit(task, request, id);
    taskhost_predecessor after = {.request = id, .on_failure = TASKHOST_ON_FAILURE_IGNORE};
    submit(task, once(&after, now), NULL);
  } else if (IS("own")) {
    request = work("{\"do\":\"work\"}");
    request.delay_ms = 3600000;
    request.idempotency_key = "own";
    submit(task, request, NULL);
  } else if (IS("daily")) {
    submit(task, daily(), NULL);
  } else if (IS("every")) {
    request = work("{\"do\":\"work\"}");
    request.every_ms = 1000;
    submit(task, request, NULL);
  } else if (IS("chain")) {
    request = work("{\"do\":\"work\"}");
    request.delay_ms = 1500;
    submit(task, request, id);
    taskhost_predecessor after = {.request = id};
    request = work("{\"do\":\"work\"}");
    request.after = &after;
    request.after_count = 1;
    submit(task, request, NULL);
  } else if (IS("event")) {
    submit(task, awaiting("pushed", 0), NULL);
    submit(task, awaiting("pushed", 1), NULL);
  } else if (IS("file")) {
    submit(task, awaiting("file:/etc/hostname", 0), NULL);
  } else if (IS("watch ")) {
    char path[1024];
    if (sscanf(payload, "\"watch %1023[^\"]", path) != 1) return TASKHOST_FAILURE;
    request = work("{\"do\":\"work\"}");
    request.watch = path;
    request.debounce_ms = 10;
    submit(task, request, NULL);
  } else if (IS("wake") || IS("wake test.waker")) {
    request = waking();
    if (IS("wake test.waker")) request.identifier = "test.waker";
    submit(task, request, NULL);
  } else if (IS("rewake")) {
    char id[40];
    request = waking();
    request.wake = 0;
    submit(task, request, id);
    rewake(task, id);
  } else if (IS("after ")) {
    char named[64];
    if (sscanf(payload, "\"after %63[0-9a-f-]", named) != 1) return TASKHOST_FAILURE;
    taskhost_predecessor after = {.request = named};
    request = work("{\"do\":\"work\"}");
    request.after = &after;
    request.after_count = 1;
    submit(task, request, NULL);
  } else if (IS("old")) {
    /* What a plugin of the first header passes: the rest of this struct is not its own. */
    request = awaiting("pushed", 1);
    request.tags = (const char *const *)(uintptr_t)16;
    request.tags_count = 1;
    request.struct_size = 56;
    submit(task, request, NULL);
    request.struct_size = 60;
    submit(task, request, NULL);
  }
  return host->set_output(task, answer, strlen(answer)) == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  taskhost_registration registration = {
      .struct_size = sizeof registration, .kind = TASKHOST_REFRESH, .identifier = IDENTIFIER, .handler = handle, .max_concurrent_runs = 4};
  taskhost_status status = api->register_handler(launch, &registration);
#ifdef LAUNCH
  taskhost_request request = work("{\"do\":\"work\"}");
  request.every_ms = 3600000;
  if (status == TASKHOST_OK && api->launch_submit(launch, &request) != TASKHOST_EINVAL) return TASKHOST_EINTERNAL;
  request = once(NULL, 4000000000000);
  if (status == TASKHOST_OK) status = api->launch_submit(launch, &request);
  request = daily();
  if (status == TASKHOST_OK) status = api->launch_submit(launch, &request);
#endif
#ifdef LAUNCH_WAKE
  taskhost_request wakes = waking();
  if (status == TASKHOST_OK) status = api->launch_submit(launch, &wakes);
#endif
#ifdef LAUNCH_AFTER
  taskhost_predecessor after = {.request = LAUNCH_AFTER};
  taskhost_request waiting = work("{\"do\":\"work\"}");
  waiting.after = &after;
  waiting.after_count = 1;
  if (status == TASKHOST_OK) status = api->launch_submit(launch, &waiting);
#endif
  return status;
}
