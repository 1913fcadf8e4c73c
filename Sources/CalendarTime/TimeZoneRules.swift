/// The offsets of a place's clocks from UTC over time, as in the IANA time zone database.
public struct TimeZoneRules: Sendable, Hashable {
  /// A period with a constant offset.
  struct Stretch: Sendable, Hashable {
    /// Its first second, counted since 1970.
    let start: Int
    /// The first second after it, counted since 1970.
    let end: Int
    /// Seconds that local time is ahead of UTC.
    let offset: Int
  }

  /// The moments at which the offset changes, in seconds since 1970 and ascending, and the new offsets.
  let changes: [(moment: Int, offset: Int)]
  /// The offset before the first change.
  let first: Int
  /// The rule for all times after the last change.
  let rule: PosixTimeZone

  /// UTC.
  public static let utc = TimeZoneRules(changes: [], first: 0, rule: PosixTimeZone(standard: 0, daylight: nil))

  init(changes: [(moment: Int, offset: Int)], first: Int, rule: PosixTimeZone) {
    self.changes = changes
    self.first = first
    self.rule = rule
  }

  /// Seconds that local time is ahead of UTC at a moment, given in seconds since 1970.
  public func offset(at moment: Int) -> Int { stretches(from: moment, to: moment)[0].offset }

  /// The stretches that overlap the given time, ends included; at least one.
  func stretches(from: Int, to: Int) -> [Stretch] {
    var found: [Stretch] = []
    var start = Int.min
    var offset = first
    func add(until end: Int) {
      if end > from, start <= to, end > start { found.append(Stretch(start: start, end: end, offset: offset)) }
    }
    // Find the last change by `from`: the first stretch begins there.
    var low = 0
    var high = changes.count
    while low < high {
      let middle = (low + high) / 2
      if changes[middle].moment <= from { low = middle + 1 } else { high = middle }
    }
    if low > 0 { (start, offset) = changes[low - 1] }
    for change in changes[low...] {
      if change.moment > to {
        add(until: change.moment)
        return found
      }
      add(until: change.moment)
      (start, offset) = change
    }
    for change in rule.changes(from: max(from, changes.last.map { $0.moment + 1 } ?? Int.min), to: to) {
      add(until: change.moment)
      (start, offset) = change
    }
    add(until: Int.max)
    return found
  }

  /// The moments at which local clocks show a time: none if the clocks skipped it, two if they showed it twice.
  ///
  /// - Parameters:
  ///   - local: The seconds since 1970 that the clocks would show if they showed UTC.
  ///   - around: The stretches that overlap ``widest`` before and after it.
  /// - Returns: The moments, ascending; and, for a skipped time, the moment at which unchanged clocks would have shown it.
  static func moments(showing local: Int, in around: [Stretch]) -> (moments: [Int], asIfNotSet: Int) {
    let moments = around.compactMap { stretch -> Int? in
      let moment = local - stretch.offset
      return moment >= stretch.start && moment < stretch.end ? moment : nil
    }
    // A skipped time lies between two stretches: after the end of the first and before the start of the second, each in its own offset.
    let before = zip(around, around.dropFirst()).first { left, right in
      local - left.offset >= left.end && local - right.offset < right.start
    }
    return (moments.sorted(), local - (before?.0.offset ?? around[0].offset))
  }

  /// The upper bound of every offset and every change of one: 26 hours, in seconds.
  static let widest = 26 * 3600

  /// Whether both have the same changes.
  public static func == (left: TimeZoneRules, right: TimeZoneRules) -> Bool {
    left.first == right.first && left.rule == right.rule && left.changes.elementsEqual(right.changes) { $0 == $1 }
  }

  /// Hashes a part of the rules.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(first)
    hasher.combine(rule)
    hasher.combine(changes.count)
  }
}
