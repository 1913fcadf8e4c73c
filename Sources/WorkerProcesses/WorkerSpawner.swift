import Glibc
import DequeModule
public import HostThreads

/// The one thread that starts worker processes.
///
/// A worker dies with the thread that started it (`PR_SET_PDEATHSIG`), so this one lives as long as the host.
public final class WorkerSpawner: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  private let monitor = Monitor()
  private var jobs = Deque<@Sendable () -> Void>()
  private var hasEnded = false

  /// Starts the thread.
  public init() throws(HostThread.Failure) { try HostThread.start("spawner") { [self] in serve() } }

  /// Does `job` on the thread, after those given before.
  func perform(_ job: @escaping @Sendable () -> Void) {
    monitor.locked {
      guard !hasEnded else { return }
      jobs.append(job)
      if jobs.count == 1 { monitor.signal() }
    }
  }

  /// Ends the thread, and with it every worker that is left.
  public func end() {
    monitor.locked {
      hasEnded = true
      monitor.signal()
    }
  }

  private func serve() {
    while let job = next() { job() }
  }

  private func next() -> (@Sendable () -> Void)? {
    monitor.locked {
      while jobs.isEmpty, !hasEnded { monitor.wait() }
      return hasEnded ? nil : jobs.popFirst()
    }
  }
}
