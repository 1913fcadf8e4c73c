/*
 * @NAME@.c - a taskhost plugin.
 *
 * A run does its work in steps. After each it records in a checkpoint how far it is, so that a run that is stopped
 * (its budget is spent, the host shuts down) or killed goes on from there the next time.
 */
#include "taskhost.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#define IDENTIFIER "@IDENTIFIER@"
#define VERSION "0.1.0"

/* What the host knows of this file before it runs any of it. As registered below. */
TASKHOST_PLUGIN_NOTE(IDENTIFIER, "@KIND@", 0, VERSION);

TASKHOST_EXPORT const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

/* The host's functions: read-only and valid as long as the process, so every run may use the pointer. */
static const taskhost_api *host;

/* ---- the work ---- */

enum { STEPS = 10 };

/* One step. It is done again if the process dies before the checkpoint is written: it must be idempotent. */
static taskhost_status do_step(taskhost_task task, uint64_t step) {
  (void)step;
  return host->sleep(task, 10); /* stands for work; EEXPIRED as soon as the run is asked to stop */
}

/* ---- the rest ---- */

/* Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's. */
static uint64_t first_step(taskhost_task task) {
  uint64_t step = 0;
  size_t length = 0;
  taskhost_status status = host->checkpoint_get(task, &step, sizeof step, &length);
  return status == TASKHOST_OK && length == sizeof step && step <= STEPS ? step : 0;
}

/* Called on a thread of the host's while the handler runs: it only says so. */
static void on_expiration(taskhost_task task, taskhost_stop_reason reason, void *context) {
  (void)task;
  (void)reason;
  atomic_store((atomic_bool *)context, true);
}

static taskhost_result work(taskhost_task task, const atomic_bool *stop) {
  const uint64_t first = first_step(task);
  for (uint64_t step = first; step < STEPS; step++) {
    taskhost_status status = atomic_load(stop) ? TASKHOST_EEXPIRED : do_step(task, step);
    if (status == TASKHOST_EEXPIRED) {
      host->set_message(task, "asked to stop before the end");
      /* SNOOZE costs no attempt, but only a run that got on may ask for it: else it could go on for ever. */
      return step > first ? TASKHOST_SNOOZE : TASKHOST_RETRY;
    }
    const uint64_t done = step + 1;
    if (status == TASKHOST_OK) status = host->checkpoint_set(task, &done, sizeof done);
    if (status != TASKHOST_OK) {
      host->set_message(task, host->last_error());
      return TASKHOST_RETRY;
    }
    host->progress(task, done, STEPS);
  }
  host->log(task, TASKHOST_INFO, "done");
  return TASKHOST_SUCCESS;
}

/* One run. Called on a thread of its own; the return value is the outcome. */
static taskhost_result handle(taskhost_task task, void *context) {
  (void)context;
  atomic_bool stop = false;
  if (host->set_expiration_handler(task, on_expiration, &stop) == TASKHOST_EEXPIRED) atomic_store(&stop, true);
  taskhost_result result = work(task, &stop);
  /* `stop` is on this stack: from here on the handler is not called any more, and a call in progress has returned. */
  host->set_expiration_handler(task, NULL, NULL);
  return result;
}

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  if (api == NULL) return TASKHOST_EINVAL;
  if (api->abi_version < TASKHOST_ABI_VERSION || !TASKHOST_HAS(api, extension)) return TASKHOST_EUNSUPPORTED;
  host = api;

  taskhost_registration registration;
  memset(&registration, 0, sizeof registration);
  registration.struct_size = sizeof registration;
  registration.kind = @KIND_CONSTANT@;
  registration.identifier = IDENTIFIER;
  registration.handler = handle;
  registration.display_name = "@NAME@";
  registration.version = VERSION;
  return api->register_handler(launch, &registration);
}
