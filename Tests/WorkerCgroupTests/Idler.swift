import Glibc
import TestSupport

/// A process that waits until it is killed: `cat` with nothing to read. It is killed and taken at the latest when this goes.
struct Idler {
  private let program: LineProgram

  init() throws {
    program = try LineProgram(["/bin/sh", "-c", "echo; exec cat"])
    try program.line()
  }

  var process: pid_t { program.processID }

  /// Waits for its end: the signal that killed it; 0: none.
  func end() throws -> Int32 { max(0, -(try program.end().status)) }
}
