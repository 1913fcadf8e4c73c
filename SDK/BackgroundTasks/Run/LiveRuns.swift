import Synchronization

/// The runs that are live in this process: each is a way to the host.
final class LiveRuns: Sendable {
  private let runs = Mutex<[TaskRun]>([])

  /// All of them, the longest-lived first.
  var all: [TaskRun] { runs.withLock { $0 } }

  /// Has `run` known for as long as `body` takes.
  func including<Result>(_ run: TaskRun, _ body: () -> Result) -> Result {
    runs.withLock { $0.append(run) }
    defer { runs.withLock { $0.removeAll { $0 === run } } }
    return body()
  }
}
