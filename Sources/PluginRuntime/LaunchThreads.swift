import HostThreads
import TaskModel

/// The threads on which plugins are loaded and launched: one serves launch after launch until one hangs in a plugin's code.
final class LaunchThreads: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  static let shared = LaunchThreads()

  private let monitor = Monitor()
  private var job: (@Sendable () -> Void)?
  private var idle = 0
  /// How long a thread without a launch is kept.
  private static let idleTime = Duration.seconds(1)

  /// Does `job` on a thread that no other job is on.
  func perform(_ job: @escaping @Sendable () -> Void) throws(HostThread.Failure) {
    let isTaken = monitor.locked { () -> Bool in
      guard idle > 0, self.job == nil else { return false }
      self.job = job
      monitor.signal()
      return true
    }
    if !isTaken { try HostThread.start("launch") { [self] in serve(job) } }
  }

  private func serve(_ first: @escaping @Sendable () -> Void) {
    var next: (@Sendable () -> Void)? = first
    while let job = next {
      job()
      next = monitor.locked { () -> (@Sendable () -> Void)? in
        idle += 1
        defer { idle -= 1 }
        let deadline = SystemClock.now + Self.idleTime
        while self.job == nil, monitor.wait(until: deadline) {}
        defer { self.job = nil }
        return self.job
      }
    }
  }
}
