public import TaskModel

/// Keeps starts to a ``Rate``: as many at once as it counts, then one each ``Rate/period`` ÷ ``Rate/count``.
///
/// After a long rest a burst may be followed by starts at the pace of the rate: at most 2 × count − 1 in a single period, count a period in
/// the long run. A clock that is set back never blocks for longer than one period; ``shifted(by:)`` makes up for it exactly.
///
/// - Source: the generic cell rate algorithm, ITU-T I.371 annex A and ATM Forum Traffic Management 4.0 section 4.4.2, in its form as a
///   leaky bucket: instead of the theoretical arrival time, what lies between it and now.
public struct RateLimiter: Sendable, Hashable {
  /// What it keeps.
  public let rate: Rate
  /// What is owed at ``asOf``, in milliseconds × count, so that it is exact: a start costs a period, a millisecond pays for count.
  private var debt: Int64 = 0
  private var asOf = WallTime(unixMilliseconds: 0)

  /// A limiter from which nothing was taken.
  public init(_ rate: Rate) { self.rate = rate }

  /// The limiter as it is after `starts`, in any order: as restored from records after a restart.
  ///
  /// It is exactly as it was if `starts` goes back to when nothing was owed. With those of the last period alone, a steady pace may be
  /// followed by a burst, but no period has more than it may have. If there were more than the rate allows (because it was higher then),
  /// the next start is one pace away and not further.
  public init(_ rate: Rate, starts: [WallTime]) {
    self.rate = rate
    for start in starts.sorted() { record(start) }
  }

  /// Takes one start, if there is one.
  ///
  /// - Returns: False: nothing was taken; ``nextPermit(after:)`` says when to come back.
  public mutating func take(now: WallTime) -> Bool {
    settle(at: now)
    guard debt + cost <= capacity else { return false }
    debt += cost
    return true
  }

  /// Counts a start that took place whether or not it was allowed, as one that a person asked for.
  public mutating func record(_ start: WallTime) {
    settle(at: start)
    debt = min(capacity, debt + cost)
  }

  /// Gives one start back that was taken and did not take place. Giving back more than was taken changes nothing.
  public mutating func giveBack() { debt = max(0, debt - cost) }

  /// How many could start at `now`: 0 … ``Rate/count``.
  public func available(at now: WallTime) -> Int { Int((capacity - owed(at: now)) / cost) }

  /// The first moment, not before `now`, at which ``take(now:)`` would take one.
  public func nextPermit(after now: WallTime) -> WallTime {
    let excess = owed(at: now) + cost - capacity
    guard excess > 0 else { return now }
    let count = Int64(rate.count)
    return now + .milliseconds((excess + count - 1) / count)
  }

  /// The same after the wall clock was set by `amount` (forward: positive): what was owed before is owed as before.
  public func shifted(by amount: Duration) -> RateLimiter {
    var limiter = self
    limiter.asOf = asOf + amount
    return limiter
  }

  /// Of one start.
  private var cost: Int64 { rate.period.wholeMilliseconds }

  /// What may be owed at most; it is paid for in one period. At most 2.6 × 10¹⁵.
  private var capacity: Int64 { cost * Int64(rate.count) }

  private func owed(at now: WallTime) -> Int64 {
    // A clock that was set back pays for nothing.
    let (paid, isMore) = max(0, (now - asOf).wholeMilliseconds).multipliedReportingOverflow(by: Int64(rate.count))
    return isMore ? 0 : max(0, debt - paid)
  }

  private mutating func settle(at now: WallTime) {
    debt = owed(at: now)
    asOf = now
  }
}
