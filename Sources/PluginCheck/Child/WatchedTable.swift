import CTaskHost
import Glibc
import PluginRuntime

// The functions of a C table are closures without context, so everything they use is global to this file.
// reason: each is written once, before the plugin is loaded
nonisolated(unsafe) private var realTable = taskhost_api()
nonisolated(unsafe) private var realRequests = taskhost_requests()
nonisolated(unsafe) private var realRequests2 = taskhost_requests_2()
nonisolated(unsafe) private var realTrace = taskhost_trace()
nonisolated(unsafe) private var realRecords = taskhost_records()
nonisolated(unsafe) private var realAssertions = taskhost_assertions()
nonisolated(unsafe) private var realTransfers = taskhost_transfers()
private let defect = taskhost_status(TASKHOST_EINTERNAL)

/// Records a status and returns it, without changing `last_error`.
private func noted(_ function: String, _ task: taskhost_task?, _ status: taskhost_status) -> taskhost_status {
  let sentence = status == taskhost_status(TASKHOST_OK) ? "" : realTable.last_error().map { String(cString: $0) } ?? ""
  CallWatch.shared.answered(function, task, status, sentence)
  return status
}

/// Records a result that is not a status, and returns it.
private func noted<Value>(_ function: String, _ task: taskhost_task, isStale: Bool, _ value: Value) -> Value {
  CallWatch.shared.answered(function, task, taskhost_status(isStale ? TASKHOST_ESTALE : TASKHOST_OK), "")
  return value
}

/// Records a text and lends it to the run, in pages of its own.
private func lent(_ function: String, _ task: taskhost_task, _ text: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
  guard let text = noted(function, task, isStale: text.map { $0.pointee == 0 } ?? true, text), text.pointee != 0 else { return text }
  let lent = CallWatch.shared.memory.lend(UnsafeRawBufferPointer(start: text, count: strlen(text)), from: function, to: task)
  return lent?.assumingMemoryBound(to: CChar.self) ?? text
}

/// Lends a text to the launch, in pages of its own.
private func lent(_ function: String, _ text: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
  CallWatch.shared.askedOfLaunch(function)
  return text.map { CallWatch.shared.memory.lendToLaunch($0) }
}

private func isStale(_ task: taskhost_task) -> Bool { (realTable.attempt?(task) ?? 0) == 0 }

/// Watches every function of the host's tables. For case processes only, because it changes the tables that the plugin gets.
enum WatchedTable {
  /// Puts the watching functions into the tables. Call it once, before a plugin is loaded. Returns false if a table could not be made
  /// writable.
  static func install() -> Bool {
    guard let table = ContractTable.shared,
      let requests = table.pointee.extension?(TASKHOST_EXTENSION_REQUESTS)?.assumingMemoryBound(to: taskhost_requests.self),
      let requests2 = table.pointee.extension?(TASKHOST_EXTENSION_REQUESTS_2)?.assumingMemoryBound(to: taskhost_requests_2.self),
      let trace = table.pointee.extension?(TASKHOST_EXTENSION_TRACE)?.assumingMemoryBound(to: taskhost_trace.self),
      let records = table.pointee.extension?(TASKHOST_EXTENSION_RECORDS)?.assumingMemoryBound(to: taskhost_records.self),
      let assertions = table.pointee.extension?(TASKHOST_EXTENSION_ASSERTIONS)?.assumingMemoryBound(to: taskhost_assertions.self),
      let transfers = table.pointee.extension?(TASKHOST_EXTENSION_TRANSFERS)?.assumingMemoryBound(to: taskhost_transfers.self)
    else { return false }
    (realTable, realRequests, realRequests2) = (table.pointee, requests.pointee, requests2.pointee)
    (realTrace, realRecords) = (trace.pointee, records.pointee)
    (realAssertions, realTransfers) = (assertions.pointee, transfers.pointee)
    return change(table) { table in
      watchLaunch(&table)
      watchNumbers(&table)
      watchRun(&table)
      watchDurable(&table)
    } && change(requests, watchRequests) && change(requests2, watchRequests2) && change(trace, watchTrace) && change(records, watchRecords)
      && change(assertions, watchAssertions) && change(transfers, watchTransfers)
  }

  private static func change<Table>(_ shared: UnsafePointer<Table>, _ body: (inout Table) -> Void) -> Bool {
    let table = UnsafeMutablePointer(mutating: shared)
    let length = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard mprotect(table, length, PROT_READ | PROT_WRITE) == 0 else { return false }
    defer { mprotect(table, length, PROT_READ) }
    body(&table.pointee)
    return true
  }

  private static func watchLaunch(_ table: inout taskhost_api) {
    table.register_handler = { launch, registration in
      noted("register_handler", nil, WatchedHandler.register(launch, registration, with: realTable.register_handler))
    }
    table.configuration = { launch in lent("configuration", realTable.configuration?(launch)) }
    table.data_directory = { launch in lent("data_directory", realTable.data_directory?(launch)) }
    table.launch_submit = { launch, request in noted("launch_submit", nil, realTable.launch_submit?(launch, request) ?? defect) }
    table.launch_log = { launch, level, message in noted("launch_log", nil, realTable.launch_log?(launch, level, message) ?? defect) }
  }

  private static func watchNumbers(_ table: inout taskhost_api) {
    table.identifier = { task in lent("identifier", task, realTable.identifier?(task)) }
    table.request_id = { task in lent("request_id", task, realTable.request_id?(task)) }
    table.attempt = { task in
      let number = realTable.attempt?(task) ?? 0
      return noted("attempt", task, isStale: number == 0, number)
    }
    table.remaining_ms = { task in
      let time = realTable.remaining_ms?(task) ?? .min
      return noted("remaining_ms", task, isStale: time == .min, time)
    }
    table.grace_ms = { task in noted("grace_ms", task, isStale: isStale(task), realTable.grace_ms?(task) ?? 0) }
    table.is_expired = { task in noted("is_expired", task, isStale: isStale(task), realTable.is_expired?(task) ?? 1) }
    table.stop_reason = { task in
      noted("stop_reason", task, isStale: isStale(task), realTable.stop_reason?(task) ?? taskhost_stop_reason(TASKHOST_STOP_NONE))
    }
    table.expiration_fd = { task in
      let descriptor = realTable.expiration_fd?(task) ?? -1
      if descriptor >= 0 { CallWatch.shared.gave(descriptor: descriptor, to: task) }
      return noted("expiration_fd", task, isStale: descriptor < 0, descriptor)
    }
    table.now_unix_ms = { task in
      let time = realTable.now_unix_ms?(task) ?? 0
      return noted("now_unix_ms", task, isStale: time == 0, time)
    }
  }

  private static func watchRun(_ table: inout taskhost_api) {
    table.payload = { task, bytes, length in
      let status = realTable.payload?(task, bytes, length) ?? defect
      if status == taskhost_status(TASKHOST_OK), let address = bytes?.pointee, let count = length?.pointee,
        let lent = CallWatch.shared.memory.lend(UnsafeRawBufferPointer(start: address, count: count), from: "payload", to: task)
      {
        bytes?.pointee = lent
      }
      return noted("payload", task, status)
    }
    table.set_expiration_handler = { task, handler, context in
      let status = realTable.set_expiration_handler?(task, handler, context) ?? defect
      // A handler that was not set because the run has expired is never called.
      let isSet = handler != nil && status == taskhost_status(TASKHOST_OK)
      CallWatch.shared.setExpirationHandler(task, isSet: isSet, context: context)
      return noted("set_expiration_handler", task, status)
    }
    table.progress = { task, completed, total in noted("progress", task, realTable.progress?(task, completed, total) ?? defect) }
    table.log = { task, level, message in noted("log", task, realTable.log?(task, level, message) ?? defect) }
    table.set_output = { task, bytes, length in noted("set_output", task, realTable.set_output?(task, bytes, length) ?? defect) }
    table.set_message = { task, message in noted("set_message", task, realTable.set_message?(task, message) ?? defect) }
    table.retry_after = { task, delay in noted("retry_after", task, realTable.retry_after?(task, delay) ?? defect) }
    table.sleep = { task, milliseconds in noted("sleep", task, realTable.sleep?(task, milliseconds) ?? defect) }
  }

  private static func watchDurable(_ table: inout taskhost_api) {
    table.state_get = { task, key, buffer, capacity, length in
      noted("state_get", task, realTable.state_get?(task, key, buffer, capacity, length) ?? defect)
    }
    table.state_set = { task, key, bytes, length in noted("state_set", task, realTable.state_set?(task, key, bytes, length) ?? defect) }
    table.checkpoint_get = { task, buffer, capacity, length in
      noted("checkpoint_get", task, realTable.checkpoint_get?(task, buffer, capacity, length) ?? defect)
    }
    table.checkpoint_set = { task, bytes, length in
      noted("checkpoint_set", task, realTable.checkpoint_set?(task, bytes, length) ?? defect)
    }
    table.submit = { task, request, submission in noted("submit", task, realTable.submit?(task, request, submission) ?? defect) }
    table.cancel = { task, request in noted("cancel", task, realTable.cancel?(task, request) ?? defect) }
  }

  private static func watchRequests(_ table: inout taskhost_requests) {
    table.list = { task, visit, context in noted("list", task, realRequests.list?(task, visit, context) ?? defect) }
    table.cancel_identifier = { task, identifier, count in
      noted(
        "cancel_identifier", task, realRequests.cancel_identifier?(task, identifier, count) ?? defect)
    }
    table.cancel_all = { task, count in noted("cancel_all", task, realRequests.cancel_all?(task, count) ?? defect) }
    table.launch_list = { launch, visit, context in noted("launch_list", nil, realRequests.launch_list?(launch, visit, context) ?? defect) }
    table.launch_cancel = { launch, identifier in noted("launch_cancel", nil, realRequests.launch_cancel?(launch, identifier) ?? defect) }
  }

  private static func watchRequests2(_ table: inout taskhost_requests_2) {
    table.notify_event = { task, event, payload, length, waiting in
      noted("notify_event", task, realRequests2.notify_event?(task, event, payload, length, waiting) ?? defect)
    }
    table.list = { task, identifier, visit, context in
      noted("list", task, realRequests2.list?(task, identifier, visit, context) ?? defect)
    }
    table.show = { task, request, visit, context in noted("show", task, realRequests2.show?(task, request, visit, context) ?? defect) }
    table.why = { task, request, visit, context in noted("why", task, realRequests2.why?(task, request, visit, context) ?? defect) }
    table.conditions = { task, visit, context in noted("conditions", task, realRequests2.conditions?(task, visit, context) ?? defect) }
    table.runs = { task, identifier, limit, visit, context in
      noted("runs", task, realRequests2.runs?(task, identifier, limit, visit, context) ?? defect)
    }
    table.last_success = { task, identifier, visit, context in
      noted("last_success", task, realRequests2.last_success?(task, identifier, visit, context) ?? defect)
    }
    table.snooze = { task, request, delay, submission in
      noted("snooze", task, realRequests2.snooze?(task, request, delay, submission) ?? defect)
    }
    table.update = { task, request, fields, submission in
      noted("update", task, realRequests2.update?(task, request, fields, submission) ?? defect)
    }
  }

  private static func watchTrace(_ table: inout taskhost_trace) {
    table.current = { task, traceparent, link in noted("current", task, realTrace.current?(task, traceparent, link) ?? defect) }
    table.span = { task, name, start, end, attributes, failed in
      noted("span", task, realTrace.span?(task, name, start, end, attributes, failed) ?? defect)
    }
  }

  private static func watchRecords(_ table: inout taskhost_records) {
    table.work = { task, work in noted("work", task, realRecords.work?(task, work) ?? defect) }
    table.progress = { task, completed, total, unit, message in
      noted("progress", task, realRecords.progress?(task, completed, total, unit, message) ?? defect)
    }
  }

  private static func watchAssertions(_ table: inout taskhost_assertions) {
    table.begin = { task, request, assertion in noted("begin", task, realAssertions.begin?(task, request, assertion) ?? defect) }
    table.remaining_ms = { task, assertion in
      noted("remaining_ms", task, isStale: isStale(task), realAssertions.remaining_ms?(task, assertion) ?? .min)
    }
    table.end = { task, assertion in noted("end", task, realAssertions.end?(task, assertion) ?? defect) }
  }

  private static func watchTransfers(_ table: inout taskhost_transfers) {
    table.folder = { task, buffer, capacity, length in
      noted("folder", task, realTransfers.folder?(task, buffer, capacity, length) ?? defect)
    }
    table.submit = { task, request, submission in noted("submit", task, realTransfers.submit?(task, request, submission) ?? defect) }
    table.cancel = { task, request in noted("cancel", task, realTransfers.cancel?(task, request) ?? defect) }
    table.pause = { task, request in noted("pause", task, realTransfers.pause?(task, request) ?? defect) }
    table.resume = { task, request in noted("resume", task, realTransfers.resume?(task, request) ?? defect) }
    table.list = { task, visit, context in noted("list", task, realTransfers.list?(task, visit, context) ?? defect) }
    table.show = { task, request, visit, context in noted("show", task, realTransfers.show?(task, request, visit, context) ?? defect) }
  }

  /// Whether the run has expired. This does not count as a call by the plugin.
  static func isExpired(_ task: taskhost_task) -> Bool { (realTable.is_expired?(task) ?? 1) != 0 }
}
