/// All problems of a configuration that cannot be used.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The file's path, as it was given.
  public let file: String

  /// At least one problem, in the order of the file.
  public let problems: [ConfigurationProblem]

  init(file: String, problems: [ConfigurationProblem]) {
    self.file = file
    self.problems = problems.sorted { ($0.line, $0.column, $0.key, $0.message) < ($1.line, $1.column, $1.key, $1.message) }
  }

  /// One line for each problem: `taskhost.toml:12:5: unknown key "plugin_directorys" (did you mean "plugin_directories"?)`.
  public var description: String {
    problems.map { problem in
      problem.line > 0 ? "\(file):\(problem.line):\(problem.column): \(problem.message)" : "\(file): \(problem.message)"
    }.joined(separator: "\n")
  }
}
