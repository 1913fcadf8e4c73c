import TestSupport

/// `watch-probe` in a process of its own: lines in, lines out.
struct Probe {
  private let program: LineProgram

  /// Starts it and waits until it watches.
  ///
  /// - Parameter prefix: The command that starts it, as `unshare -U`.
  init(_ arguments: [String], prefix: [String] = [], environment: [String: String] = [:]) throws {
    // Not the command that starts it: what is preloaded is for the probe alone.
    let settings = environment.map { "\($0.key)=\($0.value)" }
    program = try LineProgram(prefix + ["/usr/bin/env"] + settings + [try BuiltProgram.path("watch-probe")] + arguments)
    try expect("ready")
  }

  /// Says a line; the answer without its first word.
  func ask(_ line: String) throws -> String {
    try program.say(line)
    return try self.line().split(separator: " ", maxSplits: 1).dropFirst().first.map(String.init) ?? ""
  }

  /// Waits for the next line, 30 s at most.
  func line() throws -> String { try program.line() }

  func expect(_ expected: String) throws {
    let line = try line()
    guard line == expected else { throw TestFailure("watch-probe says \"\(line)\", not \"\(expected)\"") }
  }

  /// Lets it stop its watches and end; its status.
  func finish() throws -> Int32 {
    program.closeInput()
    try expect("stopped")
    return try program.end().status
  }
}
