import Logging
import Synchronization
import TaskModel

/// The unresolved problems that parts of the host have reported, at most one for each kind and subject.
final class ProblemBoard: Sendable {
  private struct Place: Hashable {
    let kind: Problem.Kind
    let subject: String?
  }

  private let problems = Mutex<[Place: Problem]>([:])

  /// Reports a problem. It replaces one of the same kind and subject, and keeps its `since`. Returns whether it is new.
  @discardableResult
  func raise(_ problem: Problem) -> Bool {
    problems.withLock { problems in
      let place = Place(kind: problem.kind, subject: problem.subject)
      let known = problems[place]
      var problem = problem
      if let known { problem.since = known.since }
      problems[place] = problem
      return known == nil
    }
  }

  /// Reports a problem, and logs it if it is new.
  func raise(_ problem: Problem, to log: Logger, _ level: Logger.Level = .warning) {
    if raise(problem) { log.log(level: level, "\(problem.text)") }
  }

  /// Returns whether there was such a problem.
  @discardableResult
  func clear(_ kind: Problem.Kind, of subject: String? = nil) -> Bool {
    problems.withLock { $0.removeValue(forKey: Place(kind: kind, subject: subject)) != nil }
  }

  /// Puts these problems in the place of all of the kind. Returns those that are new.
  func replace(_ kind: Problem.Kind, with current: [Problem]) -> [Problem] {
    let gone = problems.withLock { problems in problems.keys.filter { $0.kind == kind } }
      .filter { place in !current.contains { $0.subject == place.subject } }
    for place in gone { clear(kind, of: place.subject) }
    return current.filter { raise($0) }
  }

  var all: [Problem] { problems.withLock { Array($0.values) } }
}
