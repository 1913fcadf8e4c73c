public import TaskModel

extension ForecastBasis {
  /// Forecasts the runs until `to`: the scheduler itself works on a copy of the queue, with a simulated clock.
  ///
  /// Assumes that runs take their usual time and succeed and that conditions stay as they are; conditions that are not observed count as
  /// held. Blocks for up to about a second: do not call on a thread that others wait for.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of runs in the result. Each request's first run comes before the later runs of others.
  ///   - isWanted: Whether the result has the runs of an identifier. All take part: they compete for the same places.
  public func forecast(
    of queue: ForecastQueue, to: WallTime, limit: Int = 20_000, isWanted: (TaskIdentifier) -> Bool = { _ in true }
  ) -> Forecast {
    let to = max(from, to)
    do {
      return try withoutActuallyEscaping(isWanted) { isWanted in
        let run = try ForecastRun(self, queue, to: to, limit: max(0, limit), isWanted: isWanted)
        try run.go()
        return try run.result()
      }
    } catch {
      // The memory store refuses only records that the real store would refuse too.
      return Forecast(from: from, to: to, notes: ["no forecast is possible: \(error)"], isTruncated: true)
    }
  }
}
