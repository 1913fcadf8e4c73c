import CalendarTime
public import TaskModel

extension MaintenanceWindow {
  /// Whether the window is open.
  public func isOpen(at now: WallTime) -> Bool {
    let moment = Self.second(now)
    let offset = zone.offset(at: moment)
    let shown = moment + offset
    let today = Self.floorDivide(shown, Self.day)
    let isShown = [today - 1, today].contains { day in
      weekdays & 1 << CivilDate(daysSince1970: day).weekday != 0 && (day * Self.day + from..<day * Self.day + to).contains(shown)
    }
    // Otherwise it can be open only if the clocks recently skipped it.
    guard !isShown, zone.offset(at: moment - 2 * Self.day) != offset else { return isShown }
    return openings(around: moment, days: -2...2).contains { $0.contains(moment) }
  }

  /// The first moment after `now` at which it opens; nil if it is never closed.
  public func nextOpening(after now: WallTime) -> WallTime? {
    let moment = Self.second(now)
    return openings(around: moment, days: Self.horizon).first { $0.lowerBound > moment }.flatMap(Self.beginning)
  }

  /// The first moment after `now` at which it closes; nil if it is never closed.
  public func closes(after now: WallTime) -> WallTime? {
    let moment = Self.second(now)
    guard let opening = openings(around: moment, days: Self.horizon).first(where: { $0.upperBound > moment }) else { return nil }
    // A window that reaches the end of the search is never closed.
    return opening.count > 10 * Self.day ? nil : WallTime(unixSeconds: opening.upperBound)
  }

  /// The last moment, not after `now`, at which it closed; nil if it never was closed.
  public func closed(before now: WallTime) -> WallTime? {
    let moment = Self.second(now)
    return openings(around: moment, days: -16...1).last { $0.upperBound <= moment }.map {
      WallTime(unixSeconds: $0.upperBound)
    }
  }

  private static let day = 86_400
  /// Contains every weekday, even if the clocks skip one.
  private static let horizon = -2...16

  private static func second(_ time: WallTime) -> Int {
    // Limits times to about 30,000 years from now.
    let milliseconds = min(max(time.unixMilliseconds, -1_000_000_000_000_000), 1_000_000_000_000_000)
    return Int(milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000)
  }

  private static func beginning(_ opening: Range<Int>) -> WallTime? { WallTime(unixSeconds: opening.lowerBound) }

  /// The openings on these days, counted from today, in seconds since 1970: ascending and disjoint.
  private func openings(around moment: Int, days: ClosedRange<Int>) -> [Range<Int>] {
    let today = Self.floorDivide(moment + zone.offset(at: moment), Self.day)
    let first = today + days.lowerBound
    let last = today + days.upperBound
    let stretches = stretches(from: (first - 2) * Self.day, to: (last + 4) * Self.day)
    let found = (first...last).filter { weekdays & 1 << CivilDate(daysSince1970: $0).weekday != 0 }
      .flatMap { openings(ofLocal: $0 * Self.day + from..<$0 * Self.day + to, stretches) }
      .sorted { $0.lowerBound < $1.lowerBound }
    return found.reduce(into: []) { apart, next in
      guard let previous = apart.last, next.lowerBound <= previous.upperBound else { return apart.append(next) }
      apart[apart.count - 1] = previous.lowerBound..<max(previous.upperBound, next.upperBound)
    }
  }

  /// The moments at which the clocks show a time of `local`; if the clocks skip all of it, those at which unchanged clocks would show it.
  private func openings(ofLocal local: Range<Int>, _ stretches: [(start: Int, end: Int, offset: Int)]) -> [Range<Int>] {
    let shown = stretches.compactMap { stretch -> Range<Int>? in
      let start = max(stretch.start, local.lowerBound - stretch.offset)
      let end = min(stretch.end, local.upperBound - stretch.offset)
      return start < end ? start..<end : nil
    }
    guard shown.isEmpty else { return shown }
    let skipped = zip(stretches, stretches.dropFirst()).first { left, right in
      local.lowerBound - left.offset >= left.end && local.upperBound - right.offset <= right.start
    }
    guard let before = skipped?.0.offset else { return [] }
    return [local.lowerBound - before..<local.upperBound - before]
  }

  /// The periods with a constant offset. Samples every six hours and finds the exact second of each change.
  private func stretches(from: Int, to: Int) -> [(start: Int, end: Int, offset: Int)] {
    var found: [(start: Int, end: Int, offset: Int)] = []
    var start = from
    var offset = zone.offset(at: from)
    for next in stride(from: from + 6 * 3600, through: to, by: 6 * 3600) {
      let changed = zone.offset(at: next)
      guard changed != offset else { continue }
      var (before, after) = (next - 6 * 3600, next)
      while after - before > 1 {
        let middle = before + (after - before) / 2
        if zone.offset(at: middle) == offset { before = middle } else { after = middle }
      }
      found.append((start, after, offset))
      (start, offset) = (after, changed)
    }
    return found + [(start, to, offset)]
  }

  private static func floorDivide(_ value: Int, _ divisor: Int) -> Int {
    value >= 0 ? value / divisor : -((divisor - 1 - value) / divisor)
  }
}
