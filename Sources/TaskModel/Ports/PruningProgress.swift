/// How far the history has been pruned since the store was opened. The runs before that which are still there are the last run or the last
/// success of a schedule.
public struct PruningProgress: Sendable, Hashable {
  /// The sequence of the last run that was looked at.
  public var through: Int64 = 0

  /// Nothing was looked at.
  public init() {}

  /// Which of the oldest runs go. One that lasted long keeps those that began after it, for no longer than it lasted.
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
      guard passed < excess || (run.sequence < old && run.ended < horizon) else { break }
      passed += 1
      through = run.sequence
      if !run.isNeeded { removed.append(run.sequence) }
    }
    return (removed, passed)
  }
}
