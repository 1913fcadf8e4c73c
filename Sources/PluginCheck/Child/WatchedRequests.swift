import CTaskHost
import Glibc

/// The table of the extension `org.taskhost.requests/1` with each function watched, as ``WatchedTable``.
enum WatchedRequests {
  // reason: written once, before the plugin is loaded
  nonisolated(unsafe) private static var real = taskhost_requests()

  /// Puts the watching functions into the table that `give` returns. Call it once, before a plugin is loaded. Returns false if it could not
  /// be made writable.
  static func install(_ give: (@convention(c) (UnsafePointer<CChar>?) -> UnsafeRawPointer?)?) -> Bool {
    guard let shared = give?(TASKHOST_EXTENSION_REQUESTS)?.assumingMemoryBound(to: taskhost_requests.self) else { return false }
    real = shared.pointee
    let table = UnsafeMutablePointer(mutating: shared)
    let length = Int(sysconf(Int32(_SC_PAGESIZE)))
    guard mprotect(table, length, PROT_READ | PROT_WRITE) == 0 else { return false }
    defer { mprotect(table, length, PROT_READ) }
    watch(&table.pointee)
    return true
  }

  private static let defect = taskhost_status(TASKHOST_EINTERNAL)

  private static func watch(_ table: inout taskhost_requests) {
    table.list = { task, visit, context in
      WatchedTable.noted("list", task, WatchedRequests.real.list?(task, visit, context) ?? WatchedRequests.defect)
    }
    table.cancel_identifier = { task, identifier, count in
      WatchedTable.noted(
        "cancel_identifier", task, WatchedRequests.real.cancel_identifier?(task, identifier, count) ?? WatchedRequests.defect)
    }
    table.cancel_all = { task, count in
      WatchedTable.noted("cancel_all", task, WatchedRequests.real.cancel_all?(task, count) ?? WatchedRequests.defect)
    }
    table.launch_list = { launch, visit, context in
      WatchedTable.noted("launch_list", nil, WatchedRequests.real.launch_list?(launch, visit, context) ?? WatchedRequests.defect)
    }
    table.launch_cancel = { launch, identifier in
      WatchedTable.noted("launch_cancel", nil, WatchedRequests.real.launch_cancel?(launch, identifier) ?? WatchedRequests.defect)
    }
  }
}
