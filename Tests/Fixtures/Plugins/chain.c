/* Submits its own next request: a payload that begins with "l" lets the run expire and does so from a thread that outlives it, any other
 * at once and without a time. */
#include "taskhost.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

static const taskhost_api *host;

static taskhost_status submit(taskhost_task task, int64_t begin, taskhost_submission *submission) {
  taskhost_request request;
  memset(&request, 0, sizeof request);
  request.struct_size = sizeof request;
  request.identifier = IDENTIFIER;
  request.earliest_begin_unix_ms = begin;
  request.payload = "\"again\"";
  request.payload_length = 7;
  submission->struct_size = sizeof *submission;
  return host->submit(task, &request, submission);
}

static void *linger(void *argument) {
  taskhost_task task = (taskhost_task)(uintptr_t)argument;
  taskhost_submission submission;
  usleep(500000);
  taskhost_status status = submit(task, 4000000000000, &submission);
  fprintf(stderr, "in its grace: submit %d, progress %d\n", status, host->progress(task, 1, 1));
  usleep(6000000);
  fprintf(stderr, "after its grace: submit %d\n", submit(task, 4000000000000, &submission));
  return NULL;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  const void *payload;
  size_t length;
  if (host->payload(task, &payload, &length) != TASKHOST_OK) return TASKHOST_RETRY;
  if (length > 1 && memcmp(payload, "\"l", 2) == 0) {
    while (host->sleep(task, 60000) == TASKHOST_OK) {}
    pthread_t thread;
    if (pthread_create(&thread, NULL, linger, (void *)(uintptr_t)task) == 0) pthread_detach(thread);
    return TASKHOST_FAILURE;
  }
  taskhost_submission submission;
  taskhost_status status = submit(task, TASKHOST_BEGIN_PACED, &submission);
  long long seconds = status == TASKHOST_OK ? (submission.next_start_unix_ms - host->now_unix_ms(task)) / 1000 : -1;
  fprintf(stderr, "submit %d: %s\n", status, seconds > 600 ? "much later" : "soon");
  return status == TASKHOST_OK ? TASKHOST_SUCCESS : TASKHOST_FAILURE;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  host = api;
  taskhost_registration registration;
  memset(&registration, 0, sizeof registration);
  registration.struct_size = sizeof registration;
  registration.kind = TASKHOST_REFRESH;
  registration.identifier = IDENTIFIER;
  registration.handler = handle;
  return api->register_handler(launch, &registration);
}
