public import TaskModel

/// Keeps starts to a ``Rate``: in no stretch of time as long as ``Rate/period`` are there more than ``Rate/count``, wherever it begins.
///
/// It remembers the last starts, so a burst may use the whole count at once, and the next start waits until the first of the burst is a
/// whole period old. Up to 512 starts are remembered to the millisecond. Of a higher count, starts that lie within 1/512 of the period are
/// remembered together, as if all had taken place with the last of them: the limit still holds, and the next start comes up to 1/512 of
/// the period later than it could. So a limiter takes at most 25 KiB.
///
/// A start that is under way can hold its place before it is known when it takes place, see ``hold(at:)``.
///
/// Starts that lie further ahead than a period do not count: they are from a calendar that was set back since. ``shifted(by:)`` moves them
/// along with a calendar that is known to have been set.
public struct RateLimiter: Sendable, Hashable {
  /// What it keeps.
  public let rate: Rate
  /// The last starts, ascending: as many as count, none a period older than the newest.
  private var groups: [Group] = []
  /// How many starts ``groups`` has.
  private var total = 0
  /// How many starts are under way.
  private var held = 0
  /// When the last of them was given its place, in milliseconds since 1970.
  private var heldAt = Int64.min

  /// Starts that are remembered together; in milliseconds since 1970.
  private struct Group: Sendable, Hashable {
    let first: Int64
    var last: Int64
    var count: Int
  }

  /// The most groups a limiter needs.
  private static let mostGroups = 512

  /// A limiter from which nothing was taken.
  public init(_ rate: Rate) { self.rate = rate }

  /// The limiter as it is after `starts`, in any order: as restored from records after a restart. It is exactly as it was if `starts` goes
  /// back for one period.
  public init(_ rate: Rate, starts: [WallTime]) {
    self.rate = rate
    for start in starts.sorted() { record(start) }
  }

  /// Takes one start, if there is one.
  ///
  /// - Returns: False: nothing was taken; ``nextPermit(after:)`` says when to come back.
  public mutating func take(now: WallTime) -> Bool {
    guard nextPermit(after: now) <= now else { return false }
    record(now)
    return true
  }

  /// Counts a start that took place whether or not it was allowed, as one that a person asked for.
  public mutating func record(_ start: WallTime) {
    let moment = Self.moment(start)
    while let last = groups.last, last.last > moment + period { total -= groups.removeLast().count }
    // One that comes late counts with the next that is known: never too soon.
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

  /// Gives a start its place that is under way: from `now` on it counts in every stretch of time, until ``begin(at:)`` says when it took
  /// place, or ``letGo()`` that it did not.
  public mutating func hold(at now: WallTime) {
    held += 1
    heldAt = Self.moment(now)
  }

  /// One of the starts that are under way took place at `start`. Where none is, nothing changes.
  public mutating func begin(at start: WallTime) {
    guard held > 0 else { return }
    held -= 1
    record(start)
  }

  /// One of the starts that are under way did not take place. Where none is, nothing changes.
  public mutating func letGo() { held = max(0, held - 1) }

  /// How many could start at `now`: 0 … ``Rate/count``.
  public func available(at now: WallTime) -> Int {
    let moment = Self.moment(now)
    let used = groups.reduce(0) { $1.last > moment - period && $1.last <= moment + period ? $0 + $1.count : $0 }
    return max(0, rate.count - used - held)
  }

  /// The first moment, not before `now`, at which ``take(now:)`` would take one. `distantFuture`: nobody knows, since all places are held
  /// by starts that are under way.
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

  /// The newest start that is known, or when one that is under way was given its place; nil if there is none.
  public var newestStart: WallTime? {
    let known = [groups.last?.last, held > 0 ? heldAt : nil].compactMap { $0 }.max()
    return known.map { WallTime(unixMilliseconds: $0) }
  }

  /// The same after the wall clock was set by `amount` (forward: positive).
  public func shifted(by amount: Duration) -> RateLimiter {
    var limiter = self
    limiter.heldAt = Self.moment(heldAt, amount)
    limiter.groups = groups.map { group in
      Group(first: Self.moment(group.first, amount), last: Self.moment(group.last, amount), count: group.count)
    }
    return limiter
  }

  /// What can never keep a start from taking place any more.
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

  /// How far apart starts may lie that are remembered together, in milliseconds.
  private var width: Int64 { rate.count <= Self.mostGroups ? 1 : (period + Int64(Self.mostGroups) - 1) / Int64(Self.mostGroups) }

  /// Not further than 30 million years from 1970: what is reckoned with it does not overflow.
  private static func moment(_ time: WallTime) -> Int64 {
    min(max(time.unixMilliseconds, -1_000_000_000_000_000_000), 1_000_000_000_000_000_000)
  }

  private static func moment(_ time: Int64, _ amount: Duration) -> Int64 { moment(WallTime(unixMilliseconds: time) + amount) }
}
