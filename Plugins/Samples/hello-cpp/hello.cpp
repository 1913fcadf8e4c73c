/*
 * hello.cpp - a complete taskhost plugin in C++17. It needs only taskhost.h, here from this repository:
 *
 *   c++ -std=c++17 -shared -fPIC -O2 -Wall -Wextra -fvisibility=hidden -I../../../SDK/CTaskHost/include -o hello-cpp.so hello.cpp
 *
 * For other machines, add -static-libstdc++ -static-libgcc: the plugin then contains its own C++ library.
 *
 * A run greets with its payload, counts to ten in steps of a tenth of a second, and outputs the count. It waits on a condition variable,
 * which the expiration handler wakes from another thread, so it stops at once however long it would have waited.
 */
#include "taskhost.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

/* Tells the host the identifier, and so the settings, sandbox and limits, before any of this code runs. */
TASKHOST_PLUGIN_NOTE("org.taskhost.samples.hello-cpp", "refresh", 0, "1.0.0");

/* Exported, with C linkage, as the header declares it. */
const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

namespace {

/* The host's functions: read-only and valid for the life of the process, so every run may use the pointer. */
const taskhost_api *host = nullptr;

/* A failed call to the host. Thrown and caught inside this plugin: no exception crosses into the host. */
class HostError : public std::runtime_error {
 public:
  explicit HostError(taskhost_status status) : std::runtime_error(host->last_error()), status(status) {}
  const taskhost_status status;
};

void check(taskhost_status status) {
  if (status != TASKHOST_OK) throw HostError(status);
}

/* One run, as this plugin's code sees it. A handle is a number: copies cost nothing, and a late call returns TASKHOST_ESTALE. */
class Run {
 public:
  explicit Run(taskhost_task task) : task_(task) {}

  /* The host's memory, valid until the handler returns. */
  std::string_view payload() const {
    const void *bytes = nullptr;
    size_t length = 0;
    check(host->payload(task_, &bytes, &length));
    return {static_cast<const char *>(bytes), length};
  }

  void info(const std::string &line) const { check(host->log(task_, TASKHOST_INFO, line.c_str())); }
  void progress(uint64_t completed, uint64_t total) const { check(host->progress(task_, completed, total)); }
  void output(std::string_view bytes) const { check(host->set_output(task_, bytes.data(), bytes.size())); }
  taskhost_task handle() const { return task_; }

 private:
  taskhost_task task_;
};

/*
 * Listens for the expiration of a run while this object lives. The handler gets `this`, which is on the run's stack. This is safe because
 * the destructor clears the handler, and clearing waits for a call in progress.
 */
class Expiration {
 public:
  explicit Expiration(const Run &run) : task_(run.handle()) {
    const taskhost_status status = host->set_expiration_handler(task_, &Expiration::called, this);
    if (status == TASKHOST_EEXPIRED) {
      expired_ = true; /* the run has already expired, so the handler will never be called */
    } else {
      check(status);
    }
  }
  ~Expiration() { host->set_expiration_handler(task_, nullptr, nullptr); }
  Expiration(const Expiration &) = delete;
  Expiration &operator=(const Expiration &) = delete;

  /* Waits for the duration, or until the run expires. Returns true if it has expired. */
  bool wait_for(std::chrono::milliseconds duration) {
    std::unique_lock lock(mutex_);
    return wake_.wait_for(lock, duration, [this] { return expired_; });
  }

 private:
  /* Called on a thread of the host, concurrently with the run: wakes the run and returns. Nothing here throws. */
  static void called(taskhost_task, taskhost_stop_reason, void *context) noexcept {
    auto *self = static_cast<Expiration *>(context);
    const std::lock_guard lock(self->mutex_);
    self->expired_ = true;
    self->wake_.notify_all();
  }

  const taskhost_task task_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool expired_ = false;
};

/* The work itself, in ordinary C++: it may throw, and its objects are destroyed on every exit. */
taskhost_result hello(const Run &run) {
  const std::string_view payload = run.payload();
  run.info("hello, " + std::string(payload.empty() ? "world" : payload));

  Expiration expiration(run);
  const uint64_t steps = 10;
  for (uint64_t step = 1; step <= steps; step++) {
    if (expiration.wait_for(std::chrono::milliseconds(100))) {
      host->set_message(run.handle(), "asked to stop before the end");
      return TASKHOST_RETRY;
    }
    run.progress(step, steps);
  }
  run.output("{\"counted\":10}");
  return TASKHOST_SUCCESS;
}

/* The function that the host calls. Exceptions end here; with noexcept, one that escapes ends the process here and not in the host. */
taskhost_result handler(taskhost_task task, void *) noexcept {
  try {
    return hello(Run(task));
  } catch (const std::bad_alloc &) {
    host->set_message(task, "out of memory");
  } catch (const std::exception &error) {
    host->set_message(task, error.what());
  } catch (...) {
    host->set_message(task, "an exception that is not a std::exception");
  }
  return TASKHOST_RETRY;
}

}  // namespace

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
  if (api == nullptr) return TASKHOST_EINVAL;
  if (api->abi_version < TASKHOST_ABI_VERSION || !TASKHOST_HAS(api, extension)) return TASKHOST_EUNSUPPORTED;
  host = api;

  taskhost_registration registration{}; /* all zero: fields not set here have the host's default */
  registration.struct_size = sizeof registration;
  registration.kind = TASKHOST_REFRESH;
  registration.identifier = "org.taskhost.samples.hello-cpp";
  registration.handler = handler;
  registration.display_name = "Hello from C++";
  registration.version = "1.0.0";
  return api->register_handler(launch, &registration);
}
