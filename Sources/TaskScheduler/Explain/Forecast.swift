public import TaskModel

extension ForecastBasis {
  /// What would run until `to`: the scheduler itself, at work on a copy of the queue with a clock that does not wait.
  ///
  /// Runs take their usual time and succeed; the conditions stay as they are, and one that is not observed counts as held. Blocks for up to
  /// about a second: not for a thread that others wait for.
  ///
  /// - Parameter limit: The most runs it tells of; then it ends with the time it has reached.
  public func forecast(of queue: ForecastQueue, to: WallTime, limit: Int = 20_000) -> Forecast {
    let to = max(from, to)
    do {
      let run = try ForecastRun(self, queue, to: to, limit: max(0, limit))
      try run.go()
      return try run.result()
    } catch {
      // The store in memory refuses only what the real one would not hold either.
      return Forecast(from: from, to: to, notes: ["nothing can be foreseen: \(error)"], isTruncated: true)
    }
  }
}
