import CTaskHostSystem
import Glibc
import HostThreads
import TaskModel

/// Turns a worker's standard output or error into log lines, within a rate limit.
///
/// Used on the loop's thread only.
final class WorkerOutput {
  let descriptor: Int32
  private let stream: LogLine.Stream
  private var level: LogLine.Level { stream == .stdout ? .info : .warning }
  private let emit: (LogLine) -> Void
  private var line: [UInt8] = []
  private var allowance = RateAllowance(burst: 500, perSecond: 100)

  init(descriptor: Int32, stream: LogLine.Stream, emit: @escaping (LogLine) -> Void) {
    self.descriptor = descriptor
    self.stream = stream
    self.emit = emit
  }

  /// Reads a bounded part of the waiting bytes. Returns whether the other side is still open.
  func read() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 65_536)
    for _ in 0..<4 {
      let count = Glibc.read(descriptor, &bytes, bytes.count)
      if count > 0 {
        take(bytes[..<count])
      } else {
        return count < 0 && (errno == EAGAIN || errno == EINTR)
      }
    }
    return true
  }

  /// Ends an unfinished line: the other side is closed, or the run that wrote it is over.
  func finish() {
    if !line.isEmpty { endLine() }
    tellDropped()
  }

  private func take(_ bytes: ArraySlice<UInt8>) {
    for part in bytes.split(separator: UInt8(ascii: "\n"), maxSplits: .max, omittingEmptySubsequences: false).dropLast() {
      append(part)
      endLine()
    }
    let rest = bytes.lastIndex(of: UInt8(ascii: "\n")).map { bytes[($0 + 1)...] } ?? bytes
    append(rest)
  }

  private func append(_ part: ArraySlice<UInt8>) {
    // One byte more than the limit, so that the cut is marked.
    line.append(contentsOf: part.prefix(max(0, Limits.logMessageBytes + 1 - line.count)))
  }

  private func endLine() {
    defer { line.removeAll(keepingCapacity: true) }
    guard !line.isEmpty else { return }
    guard allowance.pass(at: SystemClock.now) else { return }
    tellDropped()
    let text = PluginText.line(String(decoding: line, as: UTF8.self))
    emit(LogLine(time: SystemClock().wallTime, level: level, message: text, stream: stream))
  }

  private func tellDropped() {
    let dropped = allowance.takeRefused()
    guard dropped > 0 else { return }
    emit(
      LogLine(
        time: SystemClock().wallTime, level: .warning, message: "\(dropped) lines of output were dropped: too many at once", stream: stream)
    )
  }
}
