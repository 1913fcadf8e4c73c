internal import CTaskHost
import Glibc
internal import TaskHostSDK

/// Writes a command's lines to the log of its run.
///
/// The host takes 1,000 lines at once and 100 a second. What comes faster is left out here, except for its end: the last lines say why a
/// command failed.
final class OutputLog {
  /// Less than the host takes, so that the end of the output has room.
  private static let burst = 800.0
  private static let rate = 80.0
  /// The record of a run has its last 100 lines: these, and the note about what was left out before them.
  private static let kept = 90

  private let run: RunHandle
  private var tokens = OutputLog.burst
  private var refilled = Clock.now
  /// The last lines that had no room, the oldest first.
  private var waiting: [(taskhost_log_level, String)] = []
  private var leftOut = 0
  /// The last line that was not blank, for the sentence about a failure.
  private(set) var lastLine = ""
  private(set) var lastError = ""

  init(_ run: RunHandle) { self.run = run }

  /// - Parameter isError: Whether the line was written to standard error.
  func line(_ bytes: [UInt8], isError: Bool) {
    var bytes = bytes[...]
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    let text = String(decoding: bytes, as: UTF8.self)
    if text.utf8.contains(where: { $0 != 0x20 && $0 != 0x09 }) {
      if isError { lastError = text }
      lastLine = text
    }
    write(isError ? taskhost_log_level(TASKHOST_WARNING) : taskhost_log_level(TASKHOST_INFO), text)
  }

  func note(_ text: String) { send(taskhost_log_level(TASKHOST_NOTICE), text) }

  func write(_ level: taskhost_log_level, _ text: String) {
    let now = Clock.now
    tokens = min(Self.burst, tokens + Self.rate * Double(now - refilled) / 1_000)
    refilled = now
    if waiting.isEmpty, tokens >= 1 {
      tokens -= 1
      return send(level, text)
    }
    waiting.append((level, text))
    if waiting.count > Self.kept {
      waiting.removeFirst()
      leftOut += 1
    } else if tokens >= Double(Self.kept) {
      finish()
    }
  }

  /// Writes the lines that had no room.
  func finish() {
    if leftOut > 0 { note("\(leftOut) lines were left out here: the command writes faster than a log is kept") }
    for (level, text) in waiting { send(level, text) }
    tokens = max(0, tokens - Double(waiting.count))
    waiting = []
    leftOut = 0
  }

  private func send(_ level: taskhost_log_level, _ text: String) {
    _ = CStrings.printable(text).withCString { run.functions.pointee.log(run.task, level, $0) }
  }
}

enum Clock {
  /// Milliseconds of the monotonic clock.
  static var now: Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
  }
}
