/*
 * Fault 44: exceptions of C++ that escape the handler, or a thread the plugin started. The payload says which:
 * "handler", "thread", "foreign" (not a std::exception), "noexcept", and anything else succeeds.
 */
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>

#include "taskhost.h"

static const taskhost_api *api;

static void refuse() { throw std::runtime_error("thrown where nothing may be"); }

static void promise() noexcept { refuse(); }

extern "C" taskhost_result handle(taskhost_task task, void *) {
  const void *bytes = nullptr;
  std::size_t length = 0;
  if (api->payload(task, &bytes, &length) != TASKHOST_OK) return TASKHOST_FAILURE;
  const std::string payload(static_cast<const char *>(bytes), length);
  if (payload == "\"handler\"") throw std::runtime_error("escaped the handler");
  if (payload == "\"foreign\"") throw 7;
  if (payload == "\"noexcept\"") promise();
  if (payload == "\"thread\"") std::thread([] { throw std::runtime_error("escaped a thread"); }).join();
  if (payload == "\"caught\"") {
    try {
      throw std::runtime_error("caught");
    } catch (const std::exception &error) {
      api->set_message(task, error.what());
    }
  }
  return TASKHOST_SUCCESS;
}

extern "C" {
TASKHOST_EXPORT extern const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;

TASKHOST_EXPORT taskhost_status taskhost_plugin_launch(const taskhost_api *table, taskhost_launch launch) {
  api = table;
  taskhost_registration registration = {};
  registration.struct_size = sizeof registration;
  registration.kind = TASKHOST_PROCESSING;
  registration.identifier = "test.exception";
  registration.handler = handle;
  return api->register_handler(launch, &registration);
}
}
