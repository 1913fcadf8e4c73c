import HostThreads
import TaskModel

/// When a host looks at the fleet's database although nobody has told it to.
///
/// Notifications may not come: a pool that shares its connections passes none on, and an application that submits in SQL need not send one.
/// So each host looks by itself. Whoever finds something first tells the others, so the more hosts there are, the more rarely each of them
/// has to.
struct FleetLooks {
  /// Whether notifications are known to come on this connection.
  private var isTold = false
  /// When the next look is due. Until then, only a lane of which the host could take something anew is a reason for one.
  private var due = MonotonicTime(nanoseconds: 0)
  private var wanted: Set<Int64> = []

  /// The most that passes between looks of the fleet, and of a host that has requests of it or is not told; also how often a host looks
  /// whether it could take more.
  static let pause = Duration.seconds(5)
  /// The most that passes between two looks of one host.
  private static let longest = Duration.seconds(30)
  /// So many looks of the fleet fall into ``pause``.
  private static let looksInPause = 8
  /// What comes within this time of an answer may have been sent with it. Through a pool, it comes only so.
  private static let answerTime = Duration.milliseconds(100)

  /// A notification came when the host had waited for this long.
  mutating func told(after waited: Duration) {
    if waited > Self.answerTime { isTold = true }
    due = MonotonicTime(nanoseconds: 0)
  }

  /// How long until the next look, if the host wants these lanes; nil to look now.
  func rest(wanting lanes: Set<Int64>) -> Duration? {
    let rest = due - SystemClock.now
    return rest > .zero && lanes.isSubset(of: wanted) ? min(rest, Self.pause) : nil
  }

  /// The host has looked for these lanes.
  ///
  /// - Returns: How long it may sleep.
  mutating func looked(wanting lanes: Set<Int64>, next: Duration) -> Duration {
    (wanted, due) = (lanes, SystemClock.now + next)
    return min(next, Self.pause)
  }

  /// How long a host of so many may wait, with some chance, so that the looks of hosts that began together do not fall together.
  func longestPause(members: Int, isIdle: Bool) -> Duration {
    guard isTold, isIdle, members > Self.looksInPause else { return Self.pause }
    let share = Self.pause * min(members, 1000) / Self.looksInPause
    return min(Self.longest, share) * Double.random(in: 0.75...1)
  }
}
