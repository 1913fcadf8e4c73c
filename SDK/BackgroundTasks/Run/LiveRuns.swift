import Dispatch
import Synchronization
import TaskHostSDK

/// The runs that are live in this process, and those that ended a moment ago: each is a way to the host.
final class LiveRuns: Sendable {
  private struct State {
    var live: [TaskRun] = []
    /// Ways that outlast their run, with their ends.
    var kept: [(channel: RunChannel, end: DispatchTime)] = []
  }

  private let state = Mutex(State())
  /// The host counts a run's grace itself; a call should not come at its very end.
  private static let margin = Duration.milliseconds(50)

  /// The live ones, the longest-lived first.
  var all: [TaskRun] { state.withLock { $0.live } }

  /// The ways for requests: the live runs, the longest-lived first, then those that have ended, the last first.
  var channels: [RunChannel] {
    let now = DispatchTime.now()
    return state.withLock { state in
      state.kept.removeAll { $0.end <= now }
      return state.live.map(\.channel) + state.kept.reversed().map(\.channel)
    }
  }

  /// Has `run` known for as long as `body` takes.
  func including<Result>(_ run: TaskRun, _ body: () -> Result) -> Result {
    state.withLock { $0.live.append(run) }
    defer { state.withLock { $0.live.removeAll { $0 === run } } }
    return body()
  }

  /// A run that the host has expired is about to end: the host takes submissions of it until its grace is over. On the run's thread.
  ///
  /// The app that completes its task because it must may submit its next request after that; else its chain of requests would end.
  func keepForSubmissions(_ channel: RunChannel) {
    let grace = channel.run.grace - Self.margin
    guard grace > .zero else { return }
    let now = DispatchTime.now()
    // A gate of its own: nothing but requests may go through the run's any more.
    let kept = RunChannel(channel.run)
    state.withLock { state in
      state.kept.removeAll { $0.end <= now }
      state.kept.append((kept, now + grace.dispatchInterval))
    }
  }
}

extension Duration {
  /// The same time for libdispatch, whose deadlines then follow the monotonic clock.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    return .milliseconds(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
