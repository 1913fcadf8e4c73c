import HostThreads
import TaskModel

/// When something happens to a worker.
struct Moment: Sendable {
  /// The clock of budgets and deadlines.
  var time: MonotonicTime
  var calendar: WallTime
  /// How many runs have begun in its process, as that says; 0 without one.
  var begunCount: UInt64

  /// A moment as given.
  init(time: MonotonicTime, calendar: WallTime, begunCount: UInt64 = 0) {
    self.time = time
    self.calendar = calendar
    self.begunCount = begunCount
  }

  /// Now.
  static func now(in process: WorkerProcess?) -> Moment {
    Moment(time: SystemClock.now, calendar: SystemClock().wallTime, begunCount: process?.begunCount ?? 0)
  }
}
