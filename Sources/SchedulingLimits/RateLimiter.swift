public import TaskModel

/// Limits starts to a ``Rate``: no interval as long as ``Rate/period`` has more than ``Rate/count`` starts, wherever it begins.
///
/// It remembers the last starts, so a burst may use the whole count at once; the next start then waits until the burst's first start is
/// a whole period old. Up to 512 starts are remembered to the millisecond. With a higher count, starts within 1/512 of the period are grouped
/// as if all had taken place at the last one's time: the limit still holds, and the next start comes up to 1/512 of the period later than
/// necessary. A limiter thus takes at most 25 KiB.
///
/// A start in progress can reserve its place before its time is known, see ``hold(at:)``.
///
/// Starts more than a period in the future do not count: the calendar was set back since. ``shifted(by:)`` moves them with a calendar that
/// is known to have been set.
public struct RateLimiter: Sendable, Hashable {
  /// The enforced rate.
  public let rate: Rate
  /// The starts that still count, ascending: none is a period older than the newest.
  private var groups: [Group] = []
  /// The number of starts in ``groups``.
  private var total = 0
  /// The number of starts in progress.
  private var held = 0
  /// When the last start in progress reserved its place, in milliseconds since 1970.
  private var heldAt = Int64.min

  /// Starts that are remembered together; in milliseconds since 1970.
  private struct Group: Sendable, Hashable {
    let first: Int64
    var last: Int64
    var count: Int
  }

  /// The maximum number of groups.
  private static let mostGroups = 512

  /// Creates a limiter without starts.
  public init(_ rate: Rate) { self.rate = rate }

  /// Restores a limiter from the recorded `starts`, in any order, after a restart. The state is exact if `starts` covers one period.
  public init(_ rate: Rate, starts: [WallTime]) {
    self.rate = rate
    for start in starts.sorted() { record(start) }
  }

  /// Takes one start, if the rate permits it.
  ///
  /// - Returns: False if nothing was taken; ``nextPermit(after:)`` says when to try again.
  public mutating func take(now: WallTime) -> Bool {
    guard nextPermit(after: now) <= now else { return false }
    record(now)
    return true
  }

  /// Counts a start that took place regardless of the limit, such as one that an operator requested.
  public mutating func record(_ start: WallTime) {
    let moment = Self.moment(start)
    while let last = groups.last, last.last > moment + period { total -= groups.removeLast().count }
    // A late record joins the next known start: it never expires too early.
    if let index = groups.firstIndex(where: { $0.last >= moment }) {
      groups[index].count += 1
    } else if let last = groups.last, moment - last.first < width {
      groups[groups.count - 1] = Group(first: last.first, last: moment, count: last.count + 1)
    } else {
      groups.append(Group(first: moment, last: moment, count: 1))
    }
    total += 1
    forgetOldest()
  }

  /// Reserves a place for a start in progress. From `now` on, it counts in every interval until ``begin(at:)`` gives its time or ``letGo()``
  /// cancels it.
  public mutating func hold(at now: WallTime) {
    held += 1
    heldAt = Self.moment(now)
  }

  /// Records that a start in progress took place at `start`. Does nothing if there is none.
  public mutating func begin(at start: WallTime) {
    guard held > 0 else { return }
    held -= 1
    record(start)
  }

  /// Records that a start in progress did not take place. Does nothing if there is none.
  public mutating func letGo() { held = max(0, held - 1) }

  /// How many could start at `now`: 0 … ``Rate/count``.
  public func available(at now: WallTime) -> Int {
    let moment = Self.moment(now)
    let used = groups.reduce(0) { $1.last > moment - period && $1.last <= moment + period ? $0 + $1.count : $0 }
    return max(0, rate.count - used - held)
  }

  /// The first moment, not before `now`, at which ``take(now:)`` would succeed; `distantFuture` if that is unknown because starts in
  /// progress hold all places.
  public func nextPermit(after now: WallTime) -> WallTime {
    guard held < rate.count else { return .distantFuture }
    guard total + held >= rate.count else { return now }
    let moment = Self.moment(now)
    var used = held
    for group in groups.reversed() where group.last <= moment + period {
      used += group.count
      if used >= rate.count { return max(now, WallTime(unixMilliseconds: group.last + period)) }
    }
    return now
  }

  /// The newest known start, or the newest reservation; nil if there is none.
  public var newestStart: WallTime? {
    let known = [groups.last?.last, held > 0 ? heldAt : nil].compactMap { $0 }.max()
    return known.map { WallTime(unixMilliseconds: $0) }
  }

  /// The state after the wall clock was set by `amount` (positive: forward).
  public func shifted(by amount: Duration) -> RateLimiter {
    var limiter = self
    limiter.heldAt = Self.moment(heldAt, amount)
    limiter.groups = groups.map { group in
      Group(first: Self.moment(group.first, amount), last: Self.moment(group.last, amount), count: group.count)
    }
    return limiter
  }

  /// Forgets starts that can no longer delay another.
  private mutating func forgetOldest() {
    guard let newest = groups.last?.last else { return }
    let past = groups.prefix { $0.last <= newest - period }
    total -= past.reduce(0) { $0 + $1.count }
    groups.removeFirst(past.count)
    while total > rate.count {
      let surplus = min(groups[0].count, total - rate.count)
      total -= surplus
      groups[0].count -= surplus
      if groups[0].count == 0 { groups.removeFirst() }
    }
  }

  private var period: Int64 { rate.period.wholeMilliseconds }

  /// The maximum distance between starts in a group, in milliseconds.
  private var width: Int64 { rate.count <= Self.mostGroups ? 1 : (period + Int64(Self.mostGroups) - 1) / Int64(Self.mostGroups) }

  /// Limits times to 30 million years from 1970, so that calculations do not overflow.
  private static func moment(_ time: WallTime) -> Int64 {
    min(max(time.unixMilliseconds, -1_000_000_000_000_000_000), 1_000_000_000_000_000_000)
  }

  private static func moment(_ time: Int64, _ amount: Duration) -> Int64 { moment(WallTime(unixMilliseconds: time) + amount) }
}
