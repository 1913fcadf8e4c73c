import TaskModel

/// Why a reload has changed nothing: all that is wrong, a line each.
struct ReloadFailure: Error {
  let problems: [String]

  init(_ problems: [String]) { self.problems = problems }

  init(_ failure: HostFailure) { problems = failure.message.split(separator: "\n").map(String.init) }

  /// For clients: one line for each problem.
  var refusal: RequestRefusal { RequestRefusal(.conflict, problems.joined(separator: "\n")) }
}
