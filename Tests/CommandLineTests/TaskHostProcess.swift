import Foundation
import TestSupport

/// Runs the built `taskhost`.
enum TaskHostProcess {
  /// Runs it with `arguments` and waits for its end.
  static func run(_ arguments: [String], input: String = "", environment: [String: String] = [:], directory: String? = nil) async throws
    -> Program.Result
  {
    try await Program.run(
      try BuiltProgram.taskhost, arguments, input: Data(input.utf8), environment: environment, directory: directory, within: .seconds(120))
  }
}
