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
  /// Whether the last look left requests that the host could take as soon as it has room.
  private var leftSome = false
  /// When it is asked next whether the host could take something anew.
  private var checkDue = MonotonicTime(nanoseconds: 0)
  /// When a lane opens of which the host takes nothing now.
  private var opening = MonotonicTime.distantFuture

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
    (due, checkDue) = (MonotonicTime(nanoseconds: 0), MonotonicTime(nanoseconds: 0))
  }

  /// How long until something is to be asked or looked at; nil if that is now.
  var rest: Duration? {
    let rest = min(due, checkDue, opening) - SystemClock.now
    return rest > .zero ? rest : nil
  }

  /// How long until it is asked again what the host could take, if it wants these lanes; nil to look now.
  mutating func rest(wanting lanes: Set<Int64>) -> Duration? {
    let rest = due - SystemClock.now
    guard rest > .zero, lanes.isEmpty || !leftSome && lanes.isSubset(of: wanted) else { return nil }
    checkDue = SystemClock.now + Self.pause
    return min(rest, Self.pause, untilOpening)
  }

  /// The host was asked what it could take: the first of the lanes that are closed opens by itself after this time.
  mutating func opens(in time: Duration?) {
    opening = time.map { SystemClock.now + $0 + .milliseconds(1) } ?? .distantFuture
  }

  private var untilOpening: Duration { max(.zero, opening - SystemClock.now) }

  /// The host has looked for these lanes.
  ///
  /// - Parameter leftSome: Whether it is to look for more as soon as it has room for it.
  /// - Returns: How long it may sleep.
  mutating func looked(wanting lanes: Set<Int64>, next: Duration, leftSome: Bool = false) -> Duration {
    let now = SystemClock.now
    (wanted, due, checkDue, self.leftSome) = (lanes, now + next, leftSome ? now : now + Self.pause, leftSome)
    return leftSome ? .zero : min(next, Self.pause, untilOpening)
  }

  /// The longest time that a host may wait before its next look. A random part of it keeps hosts that began together from looking together.
  ///
  /// - Parameters:
  ///   - members: How many hosts the fleet has.
  ///   - isIdle: Whether the host has no request of the fleet.
  func longestPause(members: Int, isIdle: Bool) -> Duration {
    guard isTold, isIdle, members > Self.looksInPause else { return Self.pause }
    let share = Self.pause * min(members, 1000) / Self.looksInPause
    return min(Self.longest, share) * Double.random(in: 0.75...1)
  }
}
