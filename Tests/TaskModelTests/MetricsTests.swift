import TaskModel
import Testing

@Suite("What runs have come to") struct MetricsTests {
  private func run(_ outcome: RunOutcome?, ended: Int64 = 5000, stopped: StopReason? = nil, forced: Bool = false, took: Duration? = nil)
    throws -> RunRecord
  {
    var report = RunReport()
    report.stopReason = stopped
    report.forced = forced
    report.handlerTime = took
    if took != nil { report.began = WallTime(unixMilliseconds: 1000) }
    return RunRecord(
      id: RunID(sequence: 1, origin: 1), request: RequestID(sequence: 2, origin: 1), identifier: try TaskIdentifier("a"), attempt: 1,
      started: WallTime(unixMilliseconds: 1000), ended: outcome.map { _ in WallTime(unixMilliseconds: ended) }, outcome: outcome,
      report: report)
  }

  @Test("each bound belongs to its own bucket, what is longer than all to the last; below zero counts as zero")
  func buckets() {
    for (number, bound) in DurationHistogram.bounds.enumerated() {
      var histogram = DurationHistogram()
      histogram.add(bound)
      histogram.add(bound + .nanoseconds(1))
      #expect(histogram.counts[number] == 1 && histogram.counts[number + 1] == 1)
    }
    var histogram = DurationHistogram()
    histogram.add(.seconds(-3))
    #expect(histogram.counts[0] == 1 && histogram.sum == .zero)
    for _ in 0..<3 { histogram.add(.seconds(Int64.max)) }
    #expect(histogram.counts.last == 3 && histogram.sum >= .seconds(Int64.max))
  }

  @Test("runs are counted by outcome and stop reason; forced stops, handler times and the last success are kept")
  func task() throws {
    var task = TaskMetrics()
    task.add(try run(nil, took: .seconds(1)))
    #expect(task == TaskMetrics(), "a live run counts for nothing")
    task.add(try run(.succeeded, ended: 9000, took: .milliseconds(20)))
    task.add(try run(.noop, ended: 7000, took: .milliseconds(20)))
    task.add(try run(.expired, stopped: .budget, forced: true, took: .seconds(30)))
    task.add(try run(.cancelled, stopped: .cancelled))
    #expect(task.endings == [.init(.succeeded): 1, .init(.noop): 1, .init(.expired, .budget): 1, .init(.cancelled, .cancelled): 1])
    #expect(task.forcedStops == 1)
    #expect(task.durations.counts.reduce(0, +) == 3, "a handler that was never called took no time")
    #expect(task.durations.sum == .milliseconds(30_040))
    #expect(task.lastSuccess == WallTime(unixMilliseconds: 9000))
  }
}
