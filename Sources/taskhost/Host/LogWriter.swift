import Glibc
import HostThreads
import TaskModel

/// Writes the host's log. Any thread adds lines without waiting. A separate thread writes them; only this thread waits for a slow reader, a
/// full disk, or a stopped terminal.
///
/// The thread sleeps while it has nothing to write.
final class LogWriter: @unchecked Sendable {  // reason: `monitor` guards everything that changes
  /// The maximum number of waiting bytes. The thread may hold as many again.
  static let capacity = 1 << 20

  private let sink: any LogSink
  private let monitor = Monitor()
  private var backlog: LogBacklog
  private var isWriting = false
  /// The error of the last write; nil if it succeeded.
  private var failure: Int32?

  /// Starts the thread.
  ///
  /// - Parameter note: Makes the line, with its line end, that says how many lines are missing.
  /// - Throws: If the system cannot start a thread.
  init(
    _ sink: any LogSink, capacity: Int = LogWriter.capacity, note: @escaping @Sendable (_ lines: UInt64) -> [UInt8]
  ) throws(HostThread.Failure) {
    self.sink = sink
    backlog = LogBacklog(capacity: capacity, note: note)
    try HostThread.start("log") { [self] in writeForever() }
  }

  /// Adds a line, to be written later; never waits. A line that does not fit is dropped and counted.
  ///
  /// - Parameter line: The line without its line end.
  func write(_ line: String) {
    var bytes = Array(line.utf8)
    bytes.append(UInt8(ascii: "\n"))
    monitor.locked {
      backlog.append(bytes)
      monitor.broadcast()
    }
  }

  var dropped: UInt64 { monitor.locked { backlog.dropped } }

  /// The log's present problem; nil if there is none.
  var problem: Problem? {
    let (failure, untold) = monitor.locked { (self.failure, backlog.untold) }
    if let failure {
      return Problem(
        .log, "the log cannot be written, and \(untold) lines are missing: \(String(cString: strerror(failure)))",
        remedy: "free some disk space, or redirect the host's standard error")
    }
    guard untold > 0 else { return nil }
    return Problem(
      .log, "nobody reads the log: \(untold) lines were dropped", remedy: "check the program that reads standard error",
      needsAction: false)
  }

  /// Waits until everything is written, but at most for `limit`: a stopped reader must not keep the host from ending.
  func flush(within limit: Duration) {
    let deadline = SystemClock.now + limit
    monitor.locked {
      while !backlog.isEmpty || isWriting {
        guard monitor.wait(until: deadline) else { return }
      }
    }
  }

  private func writeForever() {
    // After a partly written line, the next one begins on a new line.
    var isInLine = false
    while true {
      let batch = next()
      let (written, failure) = sink.write((isInLine ? [UInt8(ascii: "\n")] : []) + batch.bytes)
      let ofBatch = max(0, written - (isInLine ? 1 : 0))
      if written > 0 { isInLine = ofBatch > 0 && batch.bytes[ofBatch - 1] != UInt8(ascii: "\n") }
      monitor.locked {
        if ofBatch < batch.bytes.count { backlog.lose(batch, after: ofBatch) }
        self.failure = failure
        isWriting = false
        monitor.broadcast()
      }
    }
  }

  private func next() -> LogBacklog.Batch {
    monitor.locked {
      while true {
        if let batch = backlog.take() {
          isWriting = true
          return batch
        }
        monitor.wait()
      }
    }
  }
}
