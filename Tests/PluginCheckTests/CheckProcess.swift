import Foundation
import TestSupport

/// Runs the built `taskhost`.
enum CheckProcess {
  /// `taskhost plugins check` with `arguments`; waits for its end, which may take some minutes.
  static func check(_ arguments: [String]) async throws -> Program.Result {
    try await run(try BuiltProgram.taskhost, ["plugins", "check"] + arguments)
  }

  /// Runs a program and waits for its end.
  static func run(_ program: String, _ arguments: [String]) async throws -> Program.Result {
    try await Program.run(
      program, arguments, environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"], within: .seconds(600))
  }
}

extension Program.Result {
  /// The cases of a JSON report, by name.
  func cases() throws -> [String: [String: Any]] {
    let cases = try report()["cases"] as? [[String: Any]] ?? []
    return Dictionary(cases.map { ($0["case"] as? String ?? "", $0) }) { first, _ in first }
  }

  /// A JSON report.
  func report() throws -> [String: Any] {
    try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any] ?? [:]
  }
}
