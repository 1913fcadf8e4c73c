import HostThreads
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

@Suite("Conditions of requests to come, on the scheduler's thread", .timeLimit(.minutes(2))) struct AwaitedConditionThreadTests {
  /// The first notice after which more than nothing is awaited.
  private func awaited(_ host: ScheduledHost) async -> Conditions? {
    for await notice in host.notices {
      if case .conditionsAwaited(let conditions) = notice, !conditions.isEmpty { return conditions }
    }
    return nil
  }

  @Test("are observed from the moment that it is due, though nothing else happens")
  func due() async throws {
    let host = try ScheduledHost()
    let start = SystemClock().wallTime
    try await host.submit(TaskRequest(identifier: .sample(), earliestBegin: start + .milliseconds(300), conditions: .network))
    #expect(await awaited(host) == .network)
    #expect(SystemClock().wallTime >= start + .milliseconds(300))
  }

  @Test("of the next occurrence too, after a run has made them unneeded")
  func next() async throws {
    let host = try ScheduledHost()
    let start = SystemClock().wallTime
    try await host.submit(TaskRequest(identifier: .sample(), earliestBegin: start + .milliseconds(100), conditions: .network))
    #expect(await awaited(host) == .network)
    try await host.submit(TaskRequest(identifier: .sample(), earliestBegin: start + .milliseconds(400), conditions: .power))
    #expect(await awaited(host) == [.network, .power])
  }
}
