import TaskModel
import Testing

@Suite("How a run ends") struct RunEndingTests {
  private static let results: [TaskResult] = [.success, .noop, .snooze, .retry, .failure, .outOfRange(5), .outOfRange(-1)]

  /// By result, for a run that stopped of itself or in its grace after BUDGET or STALLED.
  private static let byResult: [RunOutcome] = [.succeeded, .noop, .snoozed, .retried, .failed, .failed, .failed]
  /// The same after CONDITIONS or DRAINING.
  private static let interrupted: [RunOutcome] = [.succeeded, .noop, .stopped, .stopped, .failed, .failed, .failed]

  private static func expected(_ stop: StopReason?) -> [RunOutcome] {
    switch stop {
    case nil, .budget, .stalled: byResult
    case .conditions, .draining: interrupted
    case .cancelled, .replaced: byResult.map { _ in .cancelled }
    }
  }

  @Test("what a handler returned counts by the reason it was asked to stop for", arguments: [nil] + StopReason.allCases)
  func returned(_ stop: StopReason?) {
    for (result, outcome) in zip(Self.results, Self.expected(stop)) {
      #expect(RunEnding.returned(result, stop: stop).outcome == outcome, "\(result)")
    }
  }

  @Test("force means expired, cancelled or stopped, by the reason")
  func forced() {
    let expected: [StopReason: RunOutcome] = [
      .budget: .expired, .stalled: .expired, .cancelled: .cancelled, .replaced: .cancelled, .conditions: .stopped, .draining: .stopped,
    ]
    for reason in StopReason.allCases { #expect(RunEnding.forced(reason).outcome == expected[reason]) }
  }

  @Test(
    "expired are runs whose time was up, however they ended; not those that were cancelled or interrupted",
    arguments: StopReason.allCases)
  func expired(_ reason: StopReason) throws {
    let identifier = try TaskIdentifier("org.example.a")
    for ending in Self.results.map({ RunEnding.returned($0, stop: reason) }) + [.forced(reason)] {
      var run = RunRecord(
        id: RunID(sequence: 2, origin: 1), request: RequestID(sequence: 1, origin: 1), identifier: identifier, attempt: 1,
        started: WallTime(unixMilliseconds: 0), ended: WallTime(unixMilliseconds: 1), outcome: ending.outcome)
      run.report.stopReason = reason
      #expect(run.isExpired == (reason == .budget || reason == .stalled), "\(ending)")
    }
  }

  @Test("a crash and a loss are what they are")
  func gone() {
    #expect(RunEnding.crashed.outcome == .crashed)
    #expect(RunEnding.lost.outcome == .lost)
  }
}
