package import CTaskHost
import FoundationEssentials

/// A run's handle for the host's functions. Usable from any thread; a call after the run is over returns `TASKHOST_ESTALE`.
package struct RunHandle: Sendable {
  package let table: HostFunctions
  package let task: taskhost_task
  /// The clock of a test host; `nil` in a real host.
  let virtualTime: VirtualTime?

  package init(table: HostFunctions, task: taskhost_task) {
    self.table = table
    self.task = task
    virtualTime = VirtualTime(table, task)
  }

  package var functions: UnsafePointer<taskhost_api> { table.api }

  /// Turns a status into an error with the host's sentence. Call it on the thread of the host call, before its next one.
  package func check(_ status: taskhost_status) throws(TaskHostError) {
    try table.check(status)
  }

  package func payload() throws(TaskHostError) -> [UInt8] {
    var bytes: UnsafeRawPointer?
    var length = 0
    try check(functions.pointee.payload(task, &bytes, &length))
    return [UInt8](UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : length))
  }

  /// The task identifier; empty once the run is over.
  package var identifier: String { functions.pointee.identifier(task).map { String(cString: $0) } ?? "" }

  /// Does nothing once the run is over.
  package func setMessage(_ text: String) {
    _ = CStrings.printable(text).withCString { functions.pointee.set_message(task, $0) }
  }

  package var stopReason: StopReason { StopReason(cValue: functions.pointee.stop_reason(task)) }

  var isExpired: Bool { functions.pointee.is_expired(task) != 0 }

  var remaining: Duration {
    let milliseconds = functions.pointee.remaining_ms(task)
    return milliseconds == .min ? .zero : .milliseconds(milliseconds)
  }

  package var grace: Duration { .milliseconds(functions.pointee.grace_ms(task)) }

  var now: Date { Date(unixMilliseconds: functions.pointee.now_unix_ms(task)) }

  func progress(_ completed: Int, of total: Int) {
    _ = functions.pointee.progress(task, UInt64(max(completed, 0)), UInt64(max(total, 0)))
  }

  /// Adds to what the run has done. Does nothing once the run is over, or if the host keeps no counts.
  package func add(_ work: WorkCounts) {
    guard work != WorkCounts() else { return }
    table.records?.add(work, task)
  }

  /// Reports progress; `nil` keeps the last unit and message, an empty text removes it.
  package func progress(_ completed: UInt64, of total: UInt64, unit: String?, message: String?) {
    guard unit != nil || message != nil, let records = table.records else {
      _ = functions.pointee.progress(task, completed, total)
      return
    }
    records.progress(completed, of: total, unit: unit, message: message, task)
  }

  func submit(_ request: TaskRequest) throws(TaskHostError) -> Submission {
    var submission = Submission.emptyCValue
    try check(try request.withCValue { functions.pointee.submit(task, $0, &submission) })
    return Submission(submission)
  }

  /// Reads bytes of unknown length through a function that returns `TASKHOST_ETOOBIG` with the required length.
  ///
  /// - Returns: `nil` if there is no value.
  func read(_ call: (UnsafeMutableRawPointer?, Int, UnsafeMutablePointer<Int>) -> taskhost_status) throws(TaskHostError) -> [UInt8]? {
    var capacity = 1024
    while true {
      var length = 0
      var status = taskhost_status(TASKHOST_OK)
      let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
        status = call(buffer.baseAddress, capacity, &length)
        count = status == taskhost_status(TASKHOST_OK) ? min(length, capacity) : 0
      }
      switch Int(status) {
      case TASKHOST_OK: return bytes
      case TASKHOST_ENOTFOUND: return nil
      case TASKHOST_ETOOBIG where length > capacity: capacity = length  // a writer may have grown it again: the loop checks once more
      default: throw table.error(status)
      }
    }
  }

  /// Passes bytes to the host; an empty array is a value of length 0, not NULL, which deletes.
  package func write(_ bytes: [UInt8], _ call: (UnsafeRawPointer, Int) -> taskhost_status) throws(TaskHostError) {
    var nothing: UInt8 = 0
    let status =
      bytes.isEmpty
      ? call(&nothing, 0)
      : bytes.withUnsafeBytes { buffer in buffer.baseAddress.map { call($0, buffer.count) } ?? taskhost_status(TASKHOST_EINVAL) }
    try check(status)
  }
}
