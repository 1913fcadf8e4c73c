import HostThreads
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskScheduler

@Suite("A run that expired and has returned") struct EndedRunTests {
  @Test("submits and cancels until its grace is over; one that did not expire does not", arguments: [StopReason.budget, nil])
  func submits(_ stop: StopReason?) async throws {
    var contract = HandlerContract.sample()
    contract.grace = .seconds(600)
    let host = try ScheduledHost(handlers: [contract])
    try await host.submit(.sample())
    let order = try await host.nextOrder()
    var report = RunReport()
    report.stopReason = stop
    host.scheduler.receive(.ended(order.run, .returned(.failure, stop: stop), report))
    var request = TaskRequest.sample()
    request.earliestBegin = SystemClock().wallTime + .seconds(3600)
    let run = RunReference(run: order.run, request: order.request, identifier: .sample())
    let answer = await withCheckedContinuation { done in
      host.scheduler.perform(.submit(request, by: .sample()).onBehalf(of: run)) { done.resume(returning: $0) }
    }
    let cancelled = await withCheckedContinuation { done in
      host.scheduler.perform(.cancelPending(of: [.sample()]).onBehalf(of: run)) { done.resume(returning: $0) }
    }
    switch stop {
    case .some:
      #expect(try answer.get().disposition == .created)
      #expect(try cancelled.get() == 1)
    case nil:
      #expect(throws: RequestRefusal.self) { try answer.get() }
      #expect(throws: RequestRefusal.self) { try cancelled.get() }
    }
    let setState = await withCheckedContinuation { done in
      host.scheduler.setState("key", to: [1], run: order.run, request: order.request, identifier: .sample()) { done.resume(returning: $0) }
    }
    #expect(throws: RequestRefusal.self, "its state is fenced") { try setState.get() }
  }

  @Test("is forgotten when its grace is over, and is nobody else's")
  func grace() {
    var runs = EndedRuns()
    let (run, request) = (RunID(sequence: 1, origin: 1), RequestID(sequence: 2, origin: 1))
    let now = SystemClock.now
    runs.note(run, of: request, until: now + .seconds(5), now: now)
    #expect(runs.contains(run, of: request, now: now + .milliseconds(4999)))
    #expect(!runs.contains(run, of: request, now: now + .seconds(5)))
    #expect(!runs.contains(run, of: RequestID(sequence: 3, origin: 1), now: now))
    #expect(!runs.contains(RunID(sequence: 4, origin: 1), of: request, now: now))
  }
}
