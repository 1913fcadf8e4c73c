/*
 * @NAME@.cpp - a taskhost plugin in C++17.
 *
 * A run does its work in steps. After each it records in a checkpoint how far it is, so that a run that is stopped
 * (its budget is spent, the host shuts down) or killed goes on from there the next time.
 */
#include "taskhost.h"

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>

#define IDENTIFIER "@IDENTIFIER@"
#define VERSION "0.1.0"

/* What the host knows of this file before it runs any of it. As registered below. */
TASKHOST_PLUGIN_NOTE(IDENTIFIER, "@KIND@", 0, VERSION);

/* Exported, with C linkage, as the header declares it. */
const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

namespace {

/* The host's functions: read-only and valid as long as the process, so every run may use the pointer. */
const taskhost_api *host = nullptr;

/*
 * Listens for the expiration of a run while it lives. The handler gets `this`, which is on the run's stack: that is safe
 * because the destructor clears it, and clearing waits for a call in progress.
 */
class Expiration {
 public:
  explicit Expiration(taskhost_task task) : task_(task) {
    /* Either it is set or we are told that it will never be called. */
    if (host->set_expiration_handler(task, &Expiration::called, this) == TASKHOST_EEXPIRED) expired_ = true;
  }
  ~Expiration() { host->set_expiration_handler(task_, nullptr, nullptr); }
  Expiration(const Expiration &) = delete;
  Expiration &operator=(const Expiration &) = delete;

  /* Waits that long, or until the run expires; true: it has. */
  bool wait_for(std::chrono::milliseconds duration) {
    std::unique_lock<std::mutex> lock(mutex_);
    return wake_.wait_for(lock, duration, [this] { return expired_; });
  }

 private:
  /* Called on a thread of the host's, beside the run. Nothing here throws. */
  static void called(taskhost_task, taskhost_stop_reason, void *context) noexcept {
    auto *self = static_cast<Expiration *>(context);
    const std::lock_guard<std::mutex> lock(self->mutex_);
    self->expired_ = true;
    self->wake_.notify_all();
  }

  const taskhost_task task_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool expired_ = false;
};

/* Throws what the host says of a call that did not succeed. No exception leaves `handle`. */
void check(taskhost_status status) {
  if (status != TASKHOST_OK) throw std::runtime_error(host->last_error());
}

/* ---- the work ---- */

constexpr uint64_t steps = 10;

/* One step; false: the run is asked to stop. It is done again if the process dies before the checkpoint is written. */
bool do_step(Expiration &expiration) { return !expiration.wait_for(std::chrono::milliseconds(10)); }

/* ---- the rest ---- */

/* Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's. */
uint64_t first_step(taskhost_task task) {
  uint64_t step = 0;
  size_t length = 0;
  const taskhost_status status = host->checkpoint_get(task, &step, sizeof step, &length);
  return status == TASKHOST_OK && length == sizeof step && step <= steps ? step : 0;
}

taskhost_result work(taskhost_task task) {
  Expiration expiration(task);
  const uint64_t first = first_step(task);
  for (uint64_t step = first; step < steps; step++) {
    if (!do_step(expiration)) {
      host->set_message(task, "asked to stop before the end");
      /* SNOOZE costs no attempt, but only a run that got on may ask for it: else it could go on for ever. */
      return step > first ? TASKHOST_SNOOZE : TASKHOST_RETRY;
    }
    const uint64_t done = step + 1;
    check(host->checkpoint_set(task, &done, sizeof done));
    host->progress(task, done, steps);
  }
  host->log(task, TASKHOST_INFO, "done");
  return TASKHOST_SUCCESS;
}

/* One run, on a thread of its own: the boundary at which exceptions end. */
taskhost_result handle(taskhost_task task, void *) noexcept {
  try {
    return work(task);
  } catch (const std::exception &error) {
    host->set_message(task, error.what());
  } catch (...) {
    host->set_message(task, "an exception that is no std::exception");
  }
  return TASKHOST_RETRY;
}

}  // namespace

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  if (api == nullptr) return TASKHOST_EINVAL;
  if (api->abi_version < TASKHOST_ABI_VERSION || !TASKHOST_HAS(api, extension)) return TASKHOST_EUNSUPPORTED;
  host = api;

  taskhost_registration registration{}; /* all zero: what is not set here is the host's default */
  registration.struct_size = sizeof registration;
  registration.kind = @KIND_CONSTANT@;
  registration.identifier = IDENTIFIER;
  registration.handler = handle;
  registration.display_name = "@NAME@";
  registration.version = VERSION;
  return api->register_handler(launch, &registration);
}
