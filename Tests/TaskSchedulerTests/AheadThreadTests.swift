import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

@Suite("Requests that are handed out ahead, on the scheduler's thread", .timeLimit(.minutes(10))) struct AheadThreadTests {
  /// A host whose launcher has one run and nine more ahead.
  private func queue() async throws -> (host: ScheduledHost, orders: [RunOrder]) {
    let host = try ScheduledHost()
    try await host.submit(.sample())
    end(try await host.nextOrder().run, host)
    await host.ended()
    try await host.submit(
      .sample(), .sample(), .sample(), .sample(), .sample(), .sample(), .sample(), .sample(), .sample(), .sample())
    var orders: [RunOrder] = []
    for _ in 0..<10 { orders.append(try await host.nextOrder()) }
    #expect(orders.map(\.isAhead) == [false] + Array(repeating: true, count: 9))
    return (host, orders)
  }

  private func end(_ run: RunID, _ host: ScheduledHost) {
    var report = RunReport()
    report.handlerTime = .microseconds(100)
    host.launcher.tell(.ended(run, .returned(.success, stop: nil), report))
  }

  /// What was told before is durable.
  private func settled(_ host: ScheduledHost) async throws {
    _ = try await withCheckedThrowingContinuation { done in
      host.scheduler.cancelAll(tag: "of nobody", identifier: nil) { done.resume(with: $0) }
    }
  }

  @Test("a cancel is answered when the launcher has said that the run has not begun")
  func cancel() async throws {
    let (host, orders) = try await queue()
    async let cancelled = host.cancel(orders[4].request)
    #expect(try await host.nextCall() == .withdraw(orders[1...].map(\.run)))
    #expect(try host.record(orders[4].request).state == .claimed)
    for order in orders[1...] { host.launcher.tell(.withdrawn(order.run)) }
    #expect(try await cancelled.state == .cancelled)
    #expect(try host.store.runs(RunQuery()).count == 1)
  }

  @Test("a cancel of one that has begun stops its run")
  func cancelTooLate() async throws {
    let (host, orders) = try await queue()
    async let cancelled = host.cancel(orders[1].request)
    #expect(try await host.nextCall() == .withdraw(orders[1...].map(\.run)))
    end(orders[0].run, host)
    for order in orders[2...] { host.launcher.tell(.withdrawn(order.run)) }
    host.launcher.tell(.began(orders[1].run))
    #expect(try await cancelled.stopRequested == .cancelled)
    var call = try await host.nextCall()
    // Where the cancel came late, the queue was taken back because the run in front of it did not end, and handed out anew behind this one.
    while case .withdraw(let runs) = call {
      for run in runs { host.launcher.tell(.withdrawn(run)) }
      call = try await host.nextCall()
    }
    #expect(call == .expire(orders[1].run, .cancelled))
    host.launcher.end(orders[1].run, .returned(.success, stop: .cancelled))
    #expect(await host.ended(2).map(\.outcome) == [.succeeded, .cancelled])
  }

  @Test("a run in front that does not end has the queue taken back, without anything else to wake the scheduler")
  func stuck() async throws {
    let (host, orders) = try await queue()
    #expect(try await host.nextCall() == .withdraw(orders[1...].map(\.run)))
    for order in orders[1...] { host.launcher.tell(.withdrawn(order.run)) }
    try await settled(host)
    #expect(try host.store.counts() == [.succeeded: 1, .running: 1, .pending: 9])
  }

  @Test("a drain takes the queue back and does not wait for it to run")
  func drain() async throws {
    let (host, orders) = try await queue()
    let drained = host.beginDrain(.seconds(3600))
    #expect(try await host.nextCall() == .withdraw(orders[1...].map(\.run)))
    for order in orders[1...] { host.launcher.tell(.withdrawn(order.run)) }
    end(orders[0].run, host)
    for await _ in drained {}
    #expect(try host.store.counts() == [.succeeded: 2, .pending: 9])
    #expect(try host.store.runs(RunQuery()).allSatisfy { $0.outcome == .succeeded })
  }

  @Test("a begin that nothing follows is recorded")
  func recorded() async throws {
    let (host, orders) = try await queue()
    end(orders[0].run, host)
    host.launcher.tell(.began(orders[1].run))
    // The rest is asked back, since the run goes on; or all was, before it had begun.
    guard case .withdraw(let runs) = try await host.nextCall() else { throw CancellationError() }
    for run in runs { host.launcher.tell(run == orders[1].run ? .began(run) : .withdrawn(run)) }
    try await settled(host)
    #expect(try host.record(orders[1].request).state == .running)
    #expect(await host.liveRuns().map(\.run) == [orders[1].run])
  }
}
