import FleetStore
import HostThreads
import TaskModel

/// Why the fleet's database does not do what one of the host's threads asks of it. The log says when that begins, and when it ends.
struct FleetTrouble {
  /// Why it failed last; nil if it did not.
  private(set) var failure: FleetError?
  /// Since when it has failed.
  private(set) var since: WallTime?
  private var isTold = false

  /// It has failed.
  ///
  /// - Parameter tells: Whether the log is told of what is new.
  /// - Returns: Whether the log is to say so.
  mutating func begin(_ failure: FleetError, tells: Bool = true) -> Bool {
    let isNews = tells && failure.isNews(after: isTold ? self.failure : nil)
    if since == nil { since = SystemClock().wallTime }
    (self.failure, isTold) = (failure, isTold || isNews)
    return isNews
  }

  /// It has done what it was asked.
  ///
  /// - Returns: Whether the log is to say so.
  mutating func end() -> Bool {
    defer { self = FleetTrouble() }
    return isTold
  }
}
