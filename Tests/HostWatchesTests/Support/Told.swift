import HostThreads
import HostWatches
import TaskModel
import Testing

/// File watches, and what they told.
final class Told: Sendable {
  let watches: FileWatches
  private let monitor: Monitor
  private let paths: Guarded<[String]>

  /// - Parameter during: Called for each path before it counts as told.
  init(during: @escaping @Sendable (String) -> Void = { _ in }) throws {
    let (monitor, paths) = (Monitor(), Guarded<[String]>([]))
    self.monitor = monitor
    self.paths = paths
    watches = try FileWatches { path in
      during(path)
      monitor.locked {
        paths.withLock { $0.append(path) }
        monitor.broadcast()
      }
    } failed: {
      Issue.record("\($0)")
    }
  }

  deinit { watches.stop() }

  /// What was told since this was last asked.
  func take() -> [String] {
    paths.withLock { told in
      defer { told = [] }
      return told
    }
  }

  /// Waits until `path` is told, and forgets what was.
  func expect(_ path: String, _ location: SourceLocation = #_sourceLocation) {
    let isTold = wait { $0.contains(path) }
    #expect(isTold, "\(path) was not told", sourceLocation: location)
    _ = take()
  }

  /// Waits until what was told satisfies `condition`; false: it did not in time.
  func wait(until condition: ([String]) -> Bool) -> Bool {
    let deadline = SystemClock.now + .seconds(30)
    return monitor.locked {
      while !paths.withLock({ condition($0) }) {
        guard monitor.wait(until: deadline) else { return false }
      }
      return true
    }
  }

  /// Everything that was told of what happened so far, less the path by which that is known: a file that exists
  /// before it is watched, so that writing it is told once, and sorts behind the others.
  func settle(_ directory: TestDirectory, _ location: SourceLocation = #_sourceLocation) throws -> [String] {
    let path = directory("~settle")
    try directory.write("~settle")
    let isTold = wait { $0.contains(path) }
    #expect(isTold, "nothing is told any more", sourceLocation: location)
    return take().filter { $0 != path }
  }
}
