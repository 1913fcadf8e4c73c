import HostThreads
import TaskModel

/// Waiting for a moment of the monotonic clock.
enum Pause {
  /// Returns when `duration` is over.
  static func wait(_ duration: Duration) {
    let monitor = Monitor()
    let end = SystemClock.now + duration
    monitor.locked { while SystemClock.now < end { monitor.wait(until: end) } }
  }
}
