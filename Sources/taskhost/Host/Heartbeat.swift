import HostThreads
import TaskModel

/// Tells the service manager that the scheduler works, as often as it wants to hear it: a host whose scheduler hangs is started again.
///
/// Each beat comes from the scheduler's own thread, between its turns. While one is on its way, no other follows.
enum Heartbeat {
  /// Beats twice in each interval, as long as the process lives.
  ///
  /// - Parameters:
  ///   - interval: How long the manager waits for a beat.
  ///   - ask: Calls the given function on the scheduler's thread, with the number of live runs.
  ///   - beat: Tells the manager.
  static func start(
    every interval: Duration, ask: @escaping @Sendable (@escaping @Sendable (_ live: Int) -> Void) -> Void,
    beat: @escaping @Sendable (_ live: Int) -> Void
  ) throws(HostThread.Failure) {
    let isOnItsWay = Guarded(false)
    try HostThread.start("heartbeat") {
      let pause = Monitor()
      var next = SystemClock.now
      while true {
        let isFree = isOnItsWay.withLock { state in
          defer { state = true }
          return !state
        }
        if isFree {
          ask { live in
            beat(live)
            isOnItsWay.withLock { $0 = false }
          }
        }
        next = next + interval / 2
        pause.locked { while pause.wait(until: next) {} }
      }
    }
  }
}
