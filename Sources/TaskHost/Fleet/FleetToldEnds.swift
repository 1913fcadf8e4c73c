import TaskModel

/// Ends on other hosts that were told of, and may be found again.
struct FleetToldEnds<ID: Hashable> {
  /// Since when, by the database's clock, the next look goes.
  private(set) var since: WallTime
  /// When each one ended.
  private(set) var times: [ID: WallTime] = [:]

  /// How far back it is looked again: rows have the time of their statement, and are seen after their commit, for which a host waits about as
  /// long.
  static var overlap: Duration { .seconds(12) }
  /// The most ends that are known to be told of: if there are more, it is looked back less far.
  static var most: Int { 10_000 }

  init(since: WallTime) { self.since = since }

  /// These are told of.
  ///
  /// - Parameter until: Until when all was found.
  mutating func note(_ found: [ID: WallTime], until: WallTime) {
    times.merge(found) { $1 }
    // Never further back than before: what was told of earlier is not known any more.
    since = max(since, until.moved(by: .zero - Self.overlap))
    if times.count >= Self.most { since = max(since, times.values.sorted()[times.count - Self.most]) }
    times = times.filter { $0.value >= since }
  }
}
