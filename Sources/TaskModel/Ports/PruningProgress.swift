/// How far the history has been pruned since the store was opened. Every run that remains before that point is the last run or the last
/// success of a schedule.
public struct PruningProgress: Sendable, Hashable {
  /// The sequence of the last run that was examined.
  public var through: Int64 = 0

  /// Starts at the beginning.
  public init() {}

  /// Chooses which of the oldest runs to remove. A long run delays the removal of runs that started after it, but for no longer than it
  /// lasted.
  ///
  /// - Parameters:
  ///   - slice: The first runs after ``through``, each with its end and whether a schedule needs it.
  ///   - excess: The number of runs after ``through`` that exceed the limit.
  ///   - old: Runs from this sequence on are not old.
  ///   - horizon: A run that ended before this time is old; in milliseconds since 1970.
  /// - Returns: The runs to remove, and the number of runs examined.
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
