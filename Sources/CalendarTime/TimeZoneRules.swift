/// When a place's clocks show what: its offsets from UTC over time, as the IANA time zone database has them.
public struct TimeZoneRules: Sendable, Hashable {
  /// A stretch of time over which the offset stays the same.
  struct Stretch: Sendable, Hashable {
    /// Its first second since 1970.
    let start: Int
    /// The first second after it.
    let end: Int
    /// Seconds that local time is ahead of UTC.
    let offset: Int
  }

  /// The moments at which the offset changes, and what it is from then on; ascending.
  let changes: [(moment: Int, offset: Int)]
  /// The offset before the first change.
  let first: Int
  /// What goes on forever after the last change.
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

  /// The stretches that have a part in the given time, ends included; at least one.
  func stretches(from: Int, to: Int) -> [Stretch] {
    var found: [Stretch] = []
    var start = Int.min
    var offset = first
    func add(until end: Int) {
      if end > from, start <= to, end > start { found.append(Stretch(start: start, end: end, offset: offset)) }
    }
    // The change before `from` is where it begins.
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

  /// The moments at which local clocks show a time: none if clocks were set forward over it, two if they were set back over it.
  ///
  /// - Parameters:
  ///   - local: The seconds since 1970 that the clocks would show if they showed UTC.
  ///   - around: The stretches that have a part in the ``widest`` before and after it.
  /// - Returns: The moments, ascending; if there is none, the moment at which clocks would show it had they not been set.
  static func moments(showing local: Int, in around: [Stretch]) -> (moments: [Int], asIfNotSet: Int) {
    let moments = around.compactMap { stretch -> Int? in
      let moment = local - stretch.offset
      return moment >= stretch.start && moment < stretch.end ? moment : nil
    }
    // The gap is between two stretches: after the end of the first by its clocks, before the start of the second by its clocks.
    let before = zip(around, around.dropFirst()).first { left, right in
      local - left.offset >= left.end && local - right.offset < right.start
    }
    return (moments.sorted(), local - (before?.0.offset ?? around[0].offset))
  }

  /// No offset, and no change of one, is larger: 26 hours.
  static let widest = 26 * 3600

  /// The same changes.
  public static func == (left: TimeZoneRules, right: TimeZoneRules) -> Bool {
    left.first == right.first && left.rule == right.rule && left.changes.elementsEqual(right.changes) { $0 == $1 }
  }

  /// Hashes enough to distinguish zones.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(first)
    hasher.combine(rule)
    hasher.combine(changes.count)
  }
}
