/*
 * Counts work and describes progress, with sums and texts at their limits, and checks every answer. A second thread
 * counts too. What it leaves: 3 of 4 items, 1 failed, and bytes at the limit.
 */
#include "runtime_fixture.h"

static const taskhost_records *records;

/* A struct of a later header: version 1 and a tail. */
typedef struct {
  taskhost_work work;
  unsigned char tail[4096 - sizeof(taskhost_work) + 16];
} later_work;

static taskhost_result refusals(taskhost_task task) {
  static later_work later;
  const uint32_t refused[] = {0, 1, sizeof(taskhost_work) - 1, 4097, 4294967295u};
  for (size_t index = 0; index < sizeof refused / sizeof *refused; index++) {
    later.work.struct_size = refused[index];
    CHECK(records->work(task, &later.work) == TASKHOST_EINVAL);
  }
  later.work.struct_size = 4096;
  CHECK(records->work(task, &later.work) == TASKHOST_OK);
  later.tail[0] = 1;
  CHECK(records->work(task, &later.work) == TASKHOST_EUNSUPPORTED);
  CHECK(records->work(task, NULL) == TASKHOST_EINVAL && strlen(api->last_error()) > 0);
  const taskhost_work reserved = {.struct_size = sizeof reserved, .reserved = 1};
  CHECK(records->work(task, &reserved) == TASKHOST_EINVAL);
  const taskhost_work good = {.struct_size = sizeof good, .items_completed = 1000};
  CHECK(records->work(0, &good) == TASKHOST_ESTALE && records->work(task ^ 1, &good) == TASKHOST_ESTALE);
  CHECK(records->progress(0, 1, 2, "files", "from nobody") == TASKHOST_ESTALE);
  return TASKHOST_SUCCESS;
}

static void *count(void *handle) {
  const taskhost_work work = {.struct_size = sizeof work, .items_failed = 1, .bytes_out = UINT64_MAX};
  records->work(*(taskhost_task *)handle, &work);
  return NULL;
}

static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  records = api->extension(TASKHOST_EXTENSION_RECORDS);
  CHECK(records != NULL && records->struct_size == sizeof *records && records->reserved == 0);
  CHECK(api->extension(TASKHOST_EXTENSION_RECORDS) == records && api->extension("org.taskhost.records/2") == NULL);
  taskhost_result result = refusals(task);
  if (result != TASKHOST_SUCCESS) return result;
  const taskhost_work work = {.struct_size = sizeof work, .items_completed = 1, .bytes_in = UINT64_MAX / 2, .bytes_out = 7};
  for (int time = 0; time < 3; time++) CHECK(records->work(task, &work) == TASKHOST_OK);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, count, &task) == 0 && pthread_join(thread, NULL) == 0);
  CHECK(records->progress(task, 3, 4, "files", "a\nb") == TASKHOST_OK);
  CHECK(records->progress(task, 9, 4, "123456789 123456789 123456789 12345", NULL) == TASKHOST_OK);
  CHECK(api->progress(task, 3, 4) == TASKHOST_OK);
  CHECK(records->progress(task, 3, 4, NULL, "") == TASKHOST_OK);
  static char big[4096];
  memset(big, 'x', sizeof big - 1);
  CHECK(records->progress(task, 3, 4, NULL, big) == TASKHOST_OK);
  return TASKHOST_SUCCESS;
}

RUNTIME_PLUGIN("records", handle)
