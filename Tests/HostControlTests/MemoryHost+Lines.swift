import ControlTestSupport
import TaskModel

extension MemoryHost {
  /// Sends every reader log lines of 8 KiB at once.
  func emit(lines: Int) {
    guard let identifier = try? TaskIdentifier("a") else { preconditionFailure("\"a\" is not an identifier") }
    let line = LogLine(time: WallTime(unixMilliseconds: 0), level: .info, message: String(repeating: "x", count: 8192))
    let run = RunReference(run: RunID(sequence: 1, origin: 1), request: RequestID(sequence: 1, origin: 1), identifier: identifier)
    for _ in 0..<lines { emit(.log(run, line)) }
  }
}
