import CTaskHost
import Glibc
import PluginRuntime

/// The host's table with each function watched. In a case process only: the table is the one that its plugin is given.
enum WatchedTable {
  // reason: written once, before the plugin is loaded
  nonisolated(unsafe) private static var real = taskhost_api()

  /// Puts the watching functions into the table. Call it once, before a plugin is loaded. Returns false if the table could not be made
  /// writable.
  static func install() -> Bool {
    guard let shared = ContractTable.shared else { return false }
    real = shared.pointee
    let table = UnsafeMutablePointer(mutating: shared)
    let length = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard mprotect(table, length, PROT_READ | PROT_WRITE) == 0 else { return false }
    defer { mprotect(table, length, PROT_READ) }
    watchLaunch(&table.pointee)
    watchNumbers(&table.pointee)
    watchRun(&table.pointee)
    watchDurable(&table.pointee)
    return WatchedRequests.install(real.extension)
  }

  private static let defect = taskhost_status(TASKHOST_EINTERNAL)

  /// Records a status and returns it. Does not change `last_error`.
  static func noted(_ function: String, _ task: taskhost_task?, _ status: taskhost_status) -> taskhost_status {
    let sentence = status == taskhost_status(TASKHOST_OK) ? "" : real.last_error().map { String(cString: $0) } ?? ""
    CallWatch.shared.answered(function, task, status, sentence)
    return status
  }

  private static func noted(_ function: String, _ task: taskhost_task, _ text: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
    CallWatch.shared.answered(function, task, isStale: text.map { $0.pointee == 0 } ?? true)
    return text
  }

  /// Lends the text in pages of the run.
  private static func lent(_ function: String, _ task: taskhost_task, _ text: UnsafePointer<CChar>?) -> UnsafePointer<CChar>? {
    guard let text, text.pointee != 0 else { return text }
    let lent = CallWatch.shared.memory.lend(UnsafeRawBufferPointer(start: text, count: strlen(text)), from: function, to: task)
    return lent?.assumingMemoryBound(to: CChar.self) ?? text
  }

  private static func isStale(_ task: taskhost_task) -> Bool { (real.attempt?(task) ?? 0) == 0 }

  private static func watchLaunch(_ table: inout taskhost_api) {
    table.register_handler = { launch, registration in
      WatchedTable.noted("register_handler", nil, WatchedHandler.register(launch, registration, with: WatchedTable.real.register_handler))
    }
    table.configuration = { launch in
      CallWatch.shared.askedOfLaunch("configuration")
      return WatchedTable.real.configuration?(launch).map { CallWatch.shared.memory.lendToLaunch($0) }
    }
    table.data_directory = { launch in
      CallWatch.shared.askedOfLaunch("data_directory")
      return WatchedTable.real.data_directory?(launch).map { CallWatch.shared.memory.lendToLaunch($0) }
    }
    table.launch_submit = { launch, request in
      WatchedTable.noted("launch_submit", nil, WatchedTable.real.launch_submit?(launch, request) ?? WatchedTable.defect)
    }
    table.launch_log = { launch, level, message in
      WatchedTable.noted("launch_log", nil, WatchedTable.real.launch_log?(launch, level, message) ?? WatchedTable.defect)
    }
  }

  private static func watchNumbers(_ table: inout taskhost_api) {
    table.identifier = { task in
      WatchedTable.lent("identifier", task, WatchedTable.noted("identifier", task, WatchedTable.real.identifier?(task)))
    }
    table.request_id = { task in
      WatchedTable.lent("request_id", task, WatchedTable.noted("request_id", task, WatchedTable.real.request_id?(task)))
    }
    table.attempt = { task in
      let number = WatchedTable.real.attempt?(task) ?? 0
      CallWatch.shared.answered("attempt", task, isStale: number == 0)
      return number
    }
    table.remaining_ms = { task in
      let time = WatchedTable.real.remaining_ms?(task) ?? .min
      CallWatch.shared.answered("remaining_ms", task, isStale: time == .min)
      return time
    }
    table.grace_ms = { task in
      CallWatch.shared.answered("grace_ms", task, isStale: WatchedTable.isStale(task))
      return WatchedTable.real.grace_ms?(task) ?? 0
    }
    table.is_expired = { task in
      CallWatch.shared.answered("is_expired", task, isStale: WatchedTable.isStale(task))
      return WatchedTable.real.is_expired?(task) ?? 1
    }
    table.stop_reason = { task in
      CallWatch.shared.answered("stop_reason", task, isStale: WatchedTable.isStale(task))
      return WatchedTable.real.stop_reason?(task) ?? taskhost_stop_reason(TASKHOST_STOP_NONE)
    }
    table.expiration_fd = { task in
      let descriptor = WatchedTable.real.expiration_fd?(task) ?? -1
      CallWatch.shared.answered("expiration_fd", task, isStale: descriptor < 0)
      if descriptor >= 0 { CallWatch.shared.gave(descriptor: descriptor, to: task) }
      return descriptor
    }
    table.now_unix_ms = { task in
      let time = WatchedTable.real.now_unix_ms?(task) ?? 0
      CallWatch.shared.answered("now_unix_ms", task, isStale: time == 0)
      return time
    }
  }

  private static func watchRun(_ table: inout taskhost_api) {
    table.payload = { task, bytes, length in
      let status = WatchedTable.real.payload?(task, bytes, length) ?? WatchedTable.defect
      if status == taskhost_status(TASKHOST_OK), let address = bytes?.pointee, let count = length?.pointee,
        let lent = CallWatch.shared.memory.lend(UnsafeRawBufferPointer(start: address, count: count), from: "payload", to: task)
      {
        bytes?.pointee = lent
      }
      return WatchedTable.noted("payload", task, status)
    }
    table.set_expiration_handler = { task, handler, context in
      let status = WatchedTable.real.set_expiration_handler?(task, handler, context) ?? WatchedTable.defect
      // A handler that was not set because the run has expired is never called.
      let isSet = handler != nil && status == taskhost_status(TASKHOST_OK)
      CallWatch.shared.setExpirationHandler(task, isSet: isSet, context: context)
      return WatchedTable.noted("set_expiration_handler", task, status)
    }
    table.progress = { task, completed, total in
      WatchedTable.noted("progress", task, WatchedTable.real.progress?(task, completed, total) ?? WatchedTable.defect)
    }
    table.log = { task, level, message in
      WatchedTable.noted("log", task, WatchedTable.real.log?(task, level, message) ?? WatchedTable.defect)
    }
    table.set_output = { task, bytes, length in
      WatchedTable.noted("set_output", task, WatchedTable.real.set_output?(task, bytes, length) ?? WatchedTable.defect)
    }
    table.set_message = { task, message in
      WatchedTable.noted("set_message", task, WatchedTable.real.set_message?(task, message) ?? WatchedTable.defect)
    }
    table.retry_after = { task, delay in
      WatchedTable.noted("retry_after", task, WatchedTable.real.retry_after?(task, delay) ?? WatchedTable.defect)
    }
    table.sleep = { task, milliseconds in
      WatchedTable.noted("sleep", task, WatchedTable.real.sleep?(task, milliseconds) ?? WatchedTable.defect)
    }
  }

  private static func watchDurable(_ table: inout taskhost_api) {
    table.state_get = { task, key, buffer, capacity, length in
      WatchedTable.noted("state_get", task, WatchedTable.real.state_get?(task, key, buffer, capacity, length) ?? WatchedTable.defect)
    }
    table.state_set = { task, key, bytes, length in
      WatchedTable.noted("state_set", task, WatchedTable.real.state_set?(task, key, bytes, length) ?? WatchedTable.defect)
    }
    table.checkpoint_get = { task, buffer, capacity, length in
      WatchedTable.noted("checkpoint_get", task, WatchedTable.real.checkpoint_get?(task, buffer, capacity, length) ?? WatchedTable.defect)
    }
    table.checkpoint_set = { task, bytes, length in
      WatchedTable.noted("checkpoint_set", task, WatchedTable.real.checkpoint_set?(task, bytes, length) ?? WatchedTable.defect)
    }
    table.submit = { task, request, submission in
      WatchedTable.noted("submit", task, WatchedTable.real.submit?(task, request, submission) ?? WatchedTable.defect)
    }
    table.cancel = { task, request in
      WatchedTable.noted("cancel", task, WatchedTable.real.cancel?(task, request) ?? WatchedTable.defect)
    }
  }

  /// Whether the run has expired; does not count as a call of the plugin.
  static func isExpired(_ task: taskhost_task) -> Bool { (real.is_expired?(task) ?? 1) != 0 }
}
