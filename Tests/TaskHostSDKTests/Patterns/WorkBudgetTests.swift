import CTaskHost
import Testing

@testable import TaskHostSDK

@Suite("Work budget", .timeLimit(.minutes(10)))
struct WorkBudgetTests {
  @Test("each limit stops the work, and says which it was")
  func limits() async throws {
    let host = PatternHost()
    let record = try await host.run { task in
      var meter = task.meter(WorkBudget(items: 2, time: .seconds(5), bytes: 100))
      #expect(meter.reachedLimit() == nil)
      meter.spend(items: 1, bytesOut: 99)
      #expect(meter.reachedLimit() == nil)
      meter.spend(bytesOut: 1)
      #expect(meter.reachedLimit() == .bytes)
      meter.spend(items: 1)
      #expect(meter.reachedLimit() == .items)

      var timed = task.meter(WorkBudget(time: .seconds(5)))
      host.advance(4_999)
      #expect(timed.reachedLimit() == nil)
      host.advance(1)
      #expect(timed.reachedLimit() == .time)
      return .success
    }
    #expect(record.result == taskhost_result(TASKHOST_SUCCESS))
  }

  @Test("items that were given up, and bytes of both directions, count for the budget")
  func everything() async throws {
    let host = PatternHost()
    _ = try await host.run { task in
      var meter = task.meter(WorkBudget(items: 2, bytes: 100))
      meter.spend(items: 1, failed: 1, bytesIn: 60, bytesOut: 39)
      #expect(meter.reachedLimit() == .items)
      #expect((meter.items, meter.failed, meter.bytes) == (1, 1, 99))
      var other = task.meter(WorkBudget(bytes: 100))
      other.spend(bytesIn: 60, bytesOut: 40)
      #expect(other.reachedLimit() == .bytes)
      return .success
    }
  }

  @Test("work stops a margin before expiration, at most a quarter of what the run had left")
  func margin() async throws {
    let host = PatternHost()
    _ = try await host.run(lasting: 30_000) { task in
      var meter = task.meter(WorkBudget(margin: .seconds(2)))
      host.advance(27_999)
      #expect(meter.reachedLimit() == nil)
      host.advance(1)
      #expect(meter.reachedLimit() == .margin)
      return .success
    }
    _ = try await host.run(lasting: 4_000) { task in
      var meter = task.meter(WorkBudget(margin: .seconds(3600)))
      host.advance(2_999)
      #expect(meter.reachedLimit() == nil)
      host.advance(1)
      #expect(meter.reachedLimit() == .margin)
      return .success
    }
  }

  @Test("an expired run is at its limit, whatever the budget is")
  func expired() async throws {
    let host = PatternHost()
    _ = try await host.run { task in
      var meter = task.meter(WorkBudget())
      task.fake?.expire()
      #expect(meter.reachedLimit() == .expired)
      return .success
    }
  }

  @Test("a clock that is set back stands still; negative counts and sums beyond the largest number do no harm")
  func oddNumbers() async throws {
    let host = PatternHost()
    _ = try await host.run { task in
      var meter = task.meter(WorkBudget(time: .seconds(5)))
      host.advance(-1_000_000)
      #expect(meter.reachedLimit() == nil)
      host.advance(4_999)
      #expect(meter.reachedLimit() == nil)
      meter.spend(items: -5, bytesOut: .max)
      meter.spend(bytesOut: .max)
      #expect(meter.items == 0)
      #expect(meter.bytes == .max)
      return .success
    }
  }
}
