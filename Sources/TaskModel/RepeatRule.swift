/// When a repeating request comes again.
public struct RepeatRule: Sendable, Hashable {
  /// The time between two occurrences.
  public var interval: Duration

  /// Every `interval`.
  public init(every interval: Duration) { self.interval = interval }

  /// The first occurrence after `now` on the grid that `occurrence` lies on: from the schedule alone, never from when a run happened
  /// to take place, so it does not drift. An occurrence that is still to come stays. Occurrences that were missed are passed over (policy `latest`).
  public func next(after occurrence: WallTime, now: WallTime) -> WallTime {
    let step = max(1, interval.wholeMilliseconds)
    guard occurrence <= now else { return occurrence }
    // An interval comes from outside and may be the longest there is: the sum stops at the end of the range.
    let (elapsed, tooLong) = now.unixMilliseconds.subtractingReportingOverflow(occurrence.unixMilliseconds)
    let since = tooLong ? Int64.max : elapsed
    let (next, overflow) = now.unixMilliseconds.addingReportingOverflow(step - since % step)
    return WallTime(unixMilliseconds: overflow ? .max : next)
  }
}
