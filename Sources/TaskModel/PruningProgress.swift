/// How far the history has been pruned since the store was opened. The runs before that which are still there are the last run or the last
/// success of a schedule, or lasted so long that they ended only lately.
public struct PruningProgress: Sendable, Hashable {
  /// The sequence of the last run that was looked at.
  public var through: Int64 = 0
  /// Runs before that which ended only lately: they are looked at again.
  public var late: [Int64] = []

  /// Nothing was looked at.
  public init() {}

  /// Which of the oldest runs go.
  ///
  /// - Parameters:
  ///   - slice: The first runs behind ``through``, with when each ended and whether a schedule needs it.
  ///   - excess: How many of the runs behind ``through`` are too many.
  ///   - old: The sequence from which on no run is old.
  ///   - horizon: A run that ended before then is old, in milliseconds since 1970.
  /// - Returns: Those that are to be removed, and how many were looked at.
  public mutating func choose(
    from slice: [(sequence: Int64, ended: Int64, isNeeded: Bool)], excess: Int, old: Int64, horizon: Int64
  ) -> (removed: [Int64], passed: Int) {
    var removed: [Int64] = []
    var passed = 0
    for run in slice {
      let isExcess = passed < excess
      guard isExcess || run.sequence < old else { break }
      passed += 1
      through = run.sequence
      if run.isNeeded { continue }
      if isExcess || run.ended < horizon { removed.append(run.sequence) } else { late.append(run.sequence) }
    }
    return (removed, passed)
  }
}
