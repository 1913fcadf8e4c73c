import Glibc
import DequeModule
public import HostThreads

/// The one thread that starts worker processes.
///
/// A worker dies with the thread that started it (`PR_SET_PDEATHSIG`), so this one lives as long as the host.
public final class WorkerSpawner: Sendable {
  private struct State {
    var jobs = Deque<@Sendable () -> Void>()
    var hasEnded = false
  }

  private let state = Guarded(State())

  /// Starts the thread.
  public init() throws(HostThread.Failure) { try HostThread.start("spawner") { [self] in serve() } }

  /// Does `job` on the thread, after those given before.
  func perform(_ job: @escaping @Sendable () -> Void) {
    state.withLock { if !$0.hasEnded { $0.jobs.append(job) } }
    state.signal()
  }

  /// Ends the thread, and with it every worker that is left.
  public func end() {
    state.withLock { $0.hasEnded = true }
    state.signal()
  }

  private func serve() {
    while let job = next() { job() }
  }

  private func next() -> (@Sendable () -> Void)? {
    state.wait { (state) -> Guarded<State>.Look<(@Sendable () -> Void)?> in
      if state.hasEnded { return .done(nil) }
      guard let job = state.jobs.popFirst() else { return .again() }
      return .done(job)
    }
  }
}
