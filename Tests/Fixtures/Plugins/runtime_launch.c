/*
 * Launches that go wrong, one for each -DFAULT_…; without any it registers and succeeds. Faults: 30-39.
 *
 * -DFAULT_REGISTRATION='…' is a list of designated initializers that come after those of a good registration, and override them.
 */
#include "runtime_fixture.h"

static taskhost_launch kept;

static taskhost_result handle(taskhost_task task, void *context);

static taskhost_registration good(void) {
  taskhost_registration registration = {.struct_size = sizeof registration, .kind = TASKHOST_REFRESH,
    .identifier = "test.runtime.launch", .handler = handle};
  return registration;
}

static void *register_late(void *status) {
  taskhost_registration registration = good();
  *(int64_t *)status = api->register_handler(kept, &registration);
  return NULL;
}

/* 39: the handle is kept, and used from the run and from another thread. values: 0 and 1 what registering said, 2-5 the rest. */
static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  runtime_probe *probe = probe_of(task);
  if (!probe) return TASKHOST_FAILURE;
  pthread_t thread;
  register_late(&probe->values[0]);
  pthread_create(&thread, NULL, register_late, &probe->values[1]);
  pthread_join(thread, NULL);
  probe->values[2] = api->launch_log(kept, TASKHOST_INFO, "late");
  probe->values[3] = api->configuration(kept) == NULL;
  probe->values[4] = api->data_directory(kept) == NULL;
  taskhost_request request = {.struct_size = sizeof request, .identifier = "test.runtime.launch"};
  probe->values[5] = api->launch_submit(kept, &request);
  return TASKHOST_SUCCESS;
}

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

/* For the tests of 31: what it hangs at, and what a registration after the hang said. */
TASKHOST_EXPORT sem_t runtime_hang, runtime_hang_over;
TASKHOST_EXPORT int64_t runtime_late_status = 1;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  kept = launch;
  taskhost_registration registration = good();
  (void)registration;
#if defined(FAULT_ERROR)
  api->register_handler(launch, &registration);
  return TASKHOST_EUNAVAILABLE;
#elif defined(FAULT_ERROR_LOGGED)
  api->register_handler(launch, &registration);
  api->launch_log(launch, TASKHOST_ERROR, "the first error");
  api->launch_log(launch, TASKHOST_ERROR, "settings.accounts is empty");
  api->launch_log(launch, TASKHOST_INFO, "giving up");
  return TASKHOST_EINVAL;
#elif defined(FAULT_ERROR_EXPLAINED)
  api->register_handler(launch, &registration);
  api->launch_log(launch, TASKHOST_ERROR, "a line of the log");
  return api->launch_log(launch, 99, "no such level");
#elif defined(FAULT_HANG)
  await(&runtime_hang);
  runtime_late_status = api->register_handler(launch, &registration);
  sem_post(&runtime_hang_over);
  return TASKHOST_OK;
#elif defined(FAULT_NOTHING)
  return TASKHOST_OK;
#elif defined(FAULT_TWICE)
  api->register_handler(launch, &registration);
  registration.identifier = "test.runtime.launch.second";
  api->register_handler(launch, &registration);
  return TASKHOST_OK;
#elif defined(FAULT_REGISTRATION)
  taskhost_registration changed = {.struct_size = sizeof changed, .kind = TASKHOST_REFRESH, .identifier = "test.runtime.launch",
    .handler = handle, FAULT_REGISTRATION};
  struct {
    taskhost_registration registration;
    unsigned char tail[8192];
  } framed = {.registration = changed};
#ifdef TAIL
  framed.tail[0] = TAIL;
#endif
  api->register_handler(launch, &framed.registration);
  return TASKHOST_OK;
#elif defined(FAULT_NULL)
  if (api->launch_log(launch, TASKHOST_INFO, NULL) != TASKHOST_EINVAL) abort();
  if (api->launch_submit(launch, NULL) != TASKHOST_EINVAL) abort();
  api->register_handler(launch, NULL);
  return TASKHOST_OK;
#elif defined(SETTINGS_FIRST)
  const char *settings = api->configuration(launch);
  taskhost_request request = {.struct_size = sizeof request, .identifier = "test.runtime.launch"};
  taskhost_status status = api->register_handler(launch, &registration);
  if (status == TASKHOST_OK) status = api->launch_submit(launch, &request);
  if (status != TASKHOST_OK) return status;
  api->launch_log(launch, TASKHOST_INFO, settings ? settings : "none");
  return settings ? TASKHOST_OK : TASKHOST_ENOTFOUND;
#elif defined(FALLBACK)
  registration.signature = "result(task)";
  registration.function = (void (*)(void))handle;
  if (api->register_handler(launch, &registration) != TASKHOST_EINVAL) abort();
  registration = good();
  return api->register_handler(launch, &registration);
#else
  return api->register_handler(launch, &registration);
#endif
}
