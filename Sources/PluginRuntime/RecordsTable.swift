import CTaskHost
import TaskModel

/// The table of the extension `org.taskhost.records/1`. It lives as long as the process and is read-only memory.
enum RecordsTable {
  // reason: written once before any other code can see it, then made read-only by the kernel
  nonisolated(unsafe) static let shared: UnsafePointer<taskhost_records>? = HostTable.readOnly(contents())

  private static func contents() -> taskhost_records {
    var table = taskhost_records()
    table.struct_size = UInt32(MemoryLayout<taskhost_records>.size)
    table.work = { task, work in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.find(task)
        try run.add(try RunWork(borrowed: work))
      }
    }
    table.progress = { task, completed, total, unit, message in
      answer { () throws(CallFailure) in
        let run = try RunTable.shared.live(task)
        try run.advance(
          RunProgress(completed: completed, total: total),
          unit: try RecordsTable.detail(unit, named: "unit", limit: Limits.progressUnitBytes),
          message: try RecordsTable.detail(message, named: "message", limit: Limits.progressMessageBytes))
      }
    }
    return table
  }

  private static func detail(_ pointer: UnsafePointer<CChar>?, named name: String, limit: Int) throws(CallFailure) -> ProgressDetail {
    guard pointer != nil else { return .kept }
    let text = try Borrowed.message(pointer, named: name, limit: limit)
    return .text(text.isEmpty ? nil : text)
  }
}

/// What a plugin says of a text of its progress.
enum ProgressDetail: Sendable {
  case kept
  case text(String?)

  /// The text from now on.
  func applied(to old: String?) -> String? {
    switch self {
    case .kept: old
    case .text(let new): new
    }
  }
}

extension RunWork {
  /// Copies the counts that a plugin lends.
  init(borrowed pointer: UnsafePointer<taskhost_work>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "work", empty: taskhost_work())
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    self.init(
      itemsAttempted: raw.items_attempted, itemsCompleted: raw.items_completed, itemsFailed: raw.items_failed, bytesIn: raw.bytes_in,
      bytesOut: raw.bytes_out)
  }
}
