import Glibc
import HostThreads
import TaskModel

/// Writes the host's log. Any thread gives it lines and goes on at once; a thread of its own writes them, and only that one waits for a
/// reader that is slow, a disk that is full, or a terminal that was stopped.
///
/// The descriptor stays as it is: it may be shared with the program that started the host, so `O_NONBLOCK` would change that program's
/// terminal or pipe too. Idle, the thread sleeps.
final class LogWriter: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  /// Bytes that may wait; the thread may hold as many again.
  static let capacity = 1 << 20

  private let descriptor: Int32
  private let monitor = Monitor()
  private var backlog: LogBacklog
  private var isWriting = false
  /// The error of the last write; nil if it succeeded.
  private var failure: Int32?

  /// Starts the thread.
  ///
  /// - Parameter note: The line, with its line end, that says how many lines are missing.
  /// - Throws: If the system has no thread to give.
  init(
    descriptor: Int32, capacity: Int = LogWriter.capacity, note: @escaping @Sendable (_ lines: UInt64) -> [UInt8]
  ) throws(HostThread.Failure) {
    self.descriptor = descriptor
    backlog = LogBacklog(capacity: capacity, note: note)
    try HostThread.start("log") { [self] in writeForever() }
  }

  /// Writes a line, some time; never waits. A line that does not fit any more is dropped and counted.
  ///
  /// - Parameter line: Without its line end.
  func write(_ line: String) {
    var bytes = Array(line.utf8)
    bytes.append(UInt8(ascii: "\n"))
    monitor.locked {
      backlog.append(bytes)
      monitor.broadcast()
    }
  }

  var dropped: UInt64 { monitor.locked { backlog.dropped } }

  /// What is wrong with the log now; nil if nothing is.
  var problem: Problem? {
    let (failure, untold) = monitor.locked { (self.failure, backlog.untold) }
    if let failure {
      return Problem(
        .log, "the log cannot be written, \(untold) lines are missing: \(String(cString: strerror(failure)))",
        remedy: "free some space, or start the host with its standard error elsewhere")
    }
    guard untold > 0 else { return nil }
    return Problem(
      .log, "nobody reads the log: \(untold) lines of it were dropped", remedy: "see to the program that reads standard error",
      needsAction: false)
  }

  /// Waits until everything is written, but at most `limit`: a reader that stopped reading must not keep the host from ending.
  func flush(within limit: Duration) {
    let deadline = SystemClock.now + limit
    monitor.locked {
      while !backlog.isEmpty || isWriting {
        guard monitor.wait(until: deadline) else { return }
      }
    }
  }

  private func writeForever() {
    // Where a line was broken off, the next one begins on a line of its own.
    var isInLine = false
    while true {
      let batch = next()
      let (written, failure) = writeAll((isInLine ? [UInt8(ascii: "\n")] : []) + batch.bytes)
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

  /// Writes as much as possible. Returns the number of bytes written, and the error that stopped it.
  private func writeAll(_ bytes: [UInt8]) -> (written: Int, failure: Int32?) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        Glibc.write(descriptor, bytes.baseAddress?.advanced(by: written), bytes.count - written)
      }
      if count > 0 {
        written += count
        continue
      }
      let code = count < 0 ? errno : EIO
      switch code {
      case EINTR: continue
      case EAGAIN:
        // Somebody else made the shared description non-blocking.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      default: return (written, code)
      }
    }
    return (written, nil)
  }
}
