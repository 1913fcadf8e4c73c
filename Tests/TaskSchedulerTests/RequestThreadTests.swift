import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

@Suite("Keys, graphs and tags on the scheduler's thread", .timeLimit(.minutes(10))) struct RequestThreadTests {
  private let hour = SystemClock().wallTime + .seconds(3600)

  private func ask<Value: Sendable>(
    _ body: (@escaping @Sendable (Result<Value, RequestRefusal>) -> Void) -> Void
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { done in body { done.resume(with: $0) } }
  }

  @Test("a chain in one submission runs in its order, each with the output of the one before")
  func chain() async throws {
    let host = try ScheduledHost(handlers: [.sample(runs: 4)])
    let ids = try await host.submit(.sample(), .sample(after: [.position(0)]), .sample(after: [.position(1)])).map(\.id)
    for (index, id) in ids.enumerated() {
      let order = try await host.nextOrder()
      #expect(order.request == id && order.payload == (index == 0 ? [] : [UInt8(index)]))
      var report = RunReport()
      report.output = [UInt8(index + 1)]
      host.scheduler.receive(.ended(order.run, .returned(.success, stop: nil), report))
    }
    await host.ended(3)
    #expect(try host.store.counts() == [.succeeded: 3])
  }

  @Test("a refused element takes the cancelling of a chain back that was done before it")
  func takenBack() async throws {
    let host = try ScheduledHost(handlers: [.sample(runs: 4)])
    let first = try await host.submit(.sample(key: "k", onConflict: .append))[0].id
    let order = try await host.nextOrder()
    let second = try await host.submit(.sample(key: "k", onConflict: .append))[0].id
    await #expect(throws: RequestRefusal.self) { try await host.submit(.sample(key: "k", onConflict: .replace), .sample(priority: 99)) }
    #expect(try host.record(first).stopRequested == nil)
    #expect(try host.record(second).state == .blocked)
    host.launcher.end(order.run, .returned(.success, stop: nil))
    #expect(try await host.nextOrder().request == second)
  }

  @Test("cancelling by tag, putting off and retrying all are answered once they are durable")
  func operators() async throws {
    let host = try ScheduledHost()
    var tagged = TaskRequest.sample(begin: hour)
    tagged.tags = ["x"]
    let ids = try await host.submit(tagged, tagged, .sample(begin: hour)).map(\.id)
    let later = hour + .seconds(60)
    let snoozed = try await ask { host.scheduler.perform(.snooze(ids[0], until: later), completion: $0) }
    #expect(snoozed.record.due == later)
    #expect(try host.record(ids[0]).due == later)
    #expect(try await ask { host.scheduler.cancelAll(tag: "x", identifier: nil, completion: $0) } == 2)
    #expect(try host.store.counts() == [.cancelled: 2, .pending: 1])
    let failed = try await host.submit(.sample())[0].id
    let order = try await host.nextOrder()
    host.launcher.end(order.run, .returned(.failure, stop: nil))
    await host.ended()
    #expect(try await ask { host.scheduler.retryAll(identifier: .sample(), completion: $0) }.retried.count == 1)
    #expect(try await host.nextOrder().request == failed)
  }
}
