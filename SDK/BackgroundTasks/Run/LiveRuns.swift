import Dispatch
import Synchronization
import TaskHostSDK

/// The live runs of this process and those that ended a moment ago. Requests reach the host through them.
final class LiveRuns: Sendable {
  private struct State {
    var live: [TaskRun] = []
    /// Channels that outlast their run, and when they end.
    var kept: [(channel: RunChannel, end: DispatchTime)] = []
  }

  private let state = Mutex(State())
  /// The host measures the grace itself; a call should not arrive at its very end.
  private static let margin = Duration.milliseconds(50)

  /// The live ones, the longest-lived first.
  var all: [TaskRun] { state.withLock { $0.live } }

  /// The channels for requests: the live runs, oldest first, then the ended ones, latest first.
  var channels: [RunChannel] {
    let now = DispatchTime.now()
    return state.withLock { state in
      state.kept.removeAll { $0.end <= now }
      return state.live.map(\.channel) + state.kept.reversed().map(\.channel)
    }
  }

  /// Lists `run` as live while `body` runs.
  func including<Result>(_ run: TaskRun, _ body: () -> Result) -> Result {
    state.withLock { $0.live.append(run) }
    defer { state.withLock { $0.live.removeAll { $0 === run } } }
    return body()
  }

  /// Keeps the channel of an expired run that is about to end: the host accepts its submissions until the grace is over. Called on the run's
  /// thread.
  ///
  /// An app that completes its task because it must may submit its next request afterwards; otherwise its chain of requests would end.
  func keepForSubmissions(_ channel: RunChannel) {
    let grace = channel.run.grace - Self.margin
    guard grace > .zero else { return }
    let now = DispatchTime.now()
    // It needs its own gate: the run's gate closes, and only requests may still pass.
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
