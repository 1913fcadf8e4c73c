import CTaskHost

/// The host's extension `org.taskhost.records/1`. A host without it keeps no counts, and nothing fails.
///
/// `@unchecked Sendable`: by contract, an extension's table is read-only and lives as long as the process.
struct RecordsTable: @unchecked Sendable {
  private let functions: UnsafePointer<taskhost_records>

  /// - Returns: Nil if the host does not offer it.
  init?(_ api: UnsafePointer<taskhost_api>) {
    guard let found = api.pointee.extension(TASKHOST_EXTENSION_RECORDS)?.assumingMemoryBound(to: taskhost_records.self),
      found.pointee.struct_size >= UInt32(MemoryLayout<taskhost_records>.size)
    else { return nil }
    functions = found
  }

  /// Adds to what the run has done. Does nothing once the run is over.
  func add(_ work: WorkCounts, _ task: taskhost_task) {
    var counts = taskhost_work()
    counts.struct_size = UInt32(MemoryLayout<taskhost_work>.size)
    counts.items_attempted = work.attempted
    counts.items_completed = work.completed
    counts.items_failed = work.failed
    counts.bytes_in = work.bytesIn
    counts.bytes_out = work.bytesOut
    _ = functions.pointee.work(task, &counts)
  }

  /// Reports progress with words; `nil` keeps the last text. Does nothing once the run is over.
  func progress(_ completed: UInt64, of total: UInt64, unit: String?, message: String?, _ task: taskhost_task) {
    CStrings.with(unit.map(CStrings.printable)) { unit in
      CStrings.with(message.map(CStrings.printable)) { message in
        _ = functions.pointee.progress(task, completed, total, unit, message)
      }
    }
  }
}
