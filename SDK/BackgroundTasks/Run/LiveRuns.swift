import Dispatch
import Synchronization
import TaskHostSDK

/// The live runs of this process and those that ended recently. Requests reach the host through them.
final class LiveRuns: Sendable {
  private struct State {
    var live: [TaskRun] = []
    /// Channels that outlive their runs, and when they end.
    var kept: [(channel: RunChannel, end: DispatchTime)] = []
  }

  private let state = Mutex(State())
  /// The host measures the grace itself; a call should not arrive at its very end.
  private static let margin = Duration.milliseconds(50)

  /// The live runs, oldest first.
  var all: [TaskRun] { state.withLock { $0.live } }

  /// The channels for requests: live runs, oldest first, then ended ones, latest first.
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

  /// Keeps the channel of an expired run that is about to end, because the host accepts its submissions until the grace ends. Called on the
  /// run's thread.
  ///
  /// An app that completes its task on expiration may submit its next request afterwards; otherwise its chain of requests would break.
  func keepForSubmissions(_ channel: RunChannel) {
    let grace = channel.run.grace - Self.margin
    guard grace > .zero else { return }
    let now = DispatchTime.now()
    // The run's gate closes, so requests need their own.
    let kept = RunChannel(channel.run)
    state.withLock { state in
      state.kept.removeAll { $0.end <= now }
      state.kept.append((kept, now + grace.dispatchInterval))
    }
  }
}

extension Duration {
  /// For libdispatch, whose deadlines then use the monotonic clock.
  var dispatchInterval: DispatchTimeInterval {
    let (seconds, attoseconds) = components
    return .milliseconds(Int(seconds) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
