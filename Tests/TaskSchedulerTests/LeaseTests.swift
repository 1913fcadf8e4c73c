import HostThreads
import MemoryStore
import StoreTestSupport
import TaskModel
import TaskScheduler
import Testing

/// Requests that a fleet gives to a host.
@Suite("Leases", .timeLimit(.minutes(1)))
struct LeaseTests {
  /// A scheduler on its thread whose store has the fleet's origin.
  private final class Holder: Sendable {
    let scheduler: Scheduler
    let launcher = RecordingLauncher(ending: nil)
    let notices: AsyncStream<Scheduler.Notice>
    let store: FailingStore
    let fleet: UInt64 = 2

    init(
      slots: Int = 1, policy: SchedulingPolicy = SchedulingPolicy(),
      rejection: @escaping @Sendable ([UInt8], TaskIdentifier) -> String? = { _, _ in nil }
    ) throws {
      let (notices, noticed) = AsyncStream<Scheduler.Notice>.makeStream()
      self.notices = notices
      store = FailingStore(MemoryRequestStore(origin: fleet))
      scheduler = try Scheduler(policy: policy, store: store, clock: SystemClock(), fleet: fleet)
      launcher.report { [weak scheduler] in scheduler?.receive($0) }
      var contract = HandlerContract.sample()
      contract.maxConcurrentRuns = slots
      _ = try scheduler.start(launcher, contracts: [contract], schedules: [:], rejection: rejection, observe: { noticed.yield($0) })
    }

    deinit { scheduler.stop() }

    func record(_ sequence: Int64, losses: Int = 0) -> RequestRecord {
      var record = RequestRecord.sample(sequence, origin: fleet, payload: [UInt8(sequence)])
      record.losses = losses
      return record
    }

    /// - Parameter token: With which the host holds them.
    func lease(
      _ records: [RequestRecord], token: Int64? = nil, cancelled: Set<RequestID> = [], awakeSince: WallTime = .distantPast,
      isOwner: Bool = true
    ) async throws -> [RequestID] {
      try await withCheckedThrowingContinuation { done in
        let requests = records.map { LeasedRequest($0, fencingToken: token) }
        scheduler.lease(requests, cancelled: cancelled, awakeSince: awakeSince, while: { isOwner }) {
          done.resume(with: $0)
        }
      }
    }

    func laneDemand() async -> LaneDemand? {
      await withCheckedContinuation { done in scheduler.demand(for: [Lane(.sample())]) { done.resume(returning: $0.first) } }
    }

    func order() async throws -> RunOrder {
      for await order in launcher.orders { return order }
      throw CancellationError()
    }

    func surrendered() async throws -> SurrenderedRequest {
      if let next = rest.withLock({ $0.popLast() }) { return next }
      for await notice in notices {
        guard case .surrendered(let requests) = notice, let first = requests.first else { continue }
        rest.withLock { $0 = requests.dropFirst().reversed() }
        return first
      }
      throw CancellationError()
    }
    private let rest = Guarded<[SurrenderedRequest]>([])
  }

  @Test("a leased request runs, and goes back with its run, whether it succeeds or is to be tried again")
  func runs() async throws {
    let host = try Holder()
    #expect(await host.laneDemand()?.room == 1)
    #expect(try await host.lease([host.record(1)]) == [])
    #expect(await host.laneDemand()?.room == 0, "the slot is taken")
    host.launcher.end(try await host.order().run, .returned(.success, stop: nil))
    let done = try await host.surrendered()
    #expect(done.record.state == .succeeded && done.record.request.payload == [1] && done.runs.map(\.outcome) == [.succeeded])
    #expect(try await host.lease([host.record(2)]) == [])
    host.launcher.end(try await host.order().run, .returned(.retry, stop: nil))
    let again = try await host.surrendered()
    #expect(again.record.state == .pending && again.record.attemptsSpent == 1 && again.runs.map(\.outcome) == [.retried])
    #expect(await host.laneDemand()?.room == 1)
  }

  @Test("a change to what has not begun gives it back; of what runs, the next owner is to find it changed, and otherwise as it was")
  func changes() async throws {
    let host = try Holder()
    #expect(try await host.lease([host.record(1), host.record(2)]) == [])
    let running = try await host.order().request
    let waiting = host.record(running.sequence == 1 ? 2 : 1).id
    func pause(_ id: RequestID) async throws -> HeldChange<RequestRecord> {
      let pause = RequestPause(by: "somebody", since: SystemClock().wallTime)
      return try await withCheckedThrowingContinuation { done in
        host.scheduler.changeHeld(id, .pause(id, pause)) { done.resume(with: $0) }
      }
    }
    let kept = try await pause(running)
    #expect(kept.value.state == .running && kept.running?.state == .pending && kept.running?.run == nil)
    #expect(kept.running?.paused != nil && kept.running?.request.payload == [UInt8(running.sequence)])
    #expect(try await pause(waiting).running == nil)
    let given = try await host.surrendered().record
    #expect(given.id == waiting && given.state == .pending && given.paused != nil && given.request.payload == [UInt8(waiting.sequence)])
  }

  @Test("what has not begun is given back, and what is held already or comes after the lease's end is refused")
  func refusals() async throws {
    let host = try Holder()
    #expect(try await host.lease([host.record(1), host.record(2)]) == [])
    let running = try await host.order()
    let (waiting, there) = (host.record(running.request.sequence == 1 ? 2 : 1).id, running.request)
    #expect(try await host.lease([host.record(there.sequence)]) == [there])
    #expect(try await host.lease([host.record(3)], isOwner: false).map(\.sequence) == [3])
    host.scheduler.giveBack([waiting, there]) { _ in }
    let given = try await host.surrendered()
    #expect(given.record.id == waiting && given.record.state == .pending && given.runs.isEmpty)
  }

  @Test("a leased request that somebody has cancelled goes back as cancelled, without a run")
  func cancelled() async throws {
    let host = try Holder()
    #expect(try await host.lease([host.record(1), host.record(2)], cancelled: [host.record(1).id]) == [])
    let given = try await host.surrendered()
    #expect(given.record.id == host.record(1).id && given.record.state == .cancelled && given.runs.isEmpty)
    #expect(try await host.order().request.sequence == 2)
  }

  @Test("a schedule that skips what was missed goes back until its next occurrence")
  func skipped() async throws {
    let host = try Holder()
    var record = host.record(1)
    record.request.repetition = RepeatRule(.every(.seconds(3600)), missed: .skip)
    record.occurrence = record.due
    #expect(try await host.lease([record], awakeSince: SystemClock().wallTime) == [])
    let given = try await host.surrendered()
    #expect(given.record.state == .pending && given.runs.isEmpty && given.record.due > SystemClock().wallTime)
  }

  @Test("at the end of the lease, what runs is stopped by force")
  func force() async throws {
    let host = try Holder()
    _ = try await host.lease([host.record(1)])
    let order = try await host.order()
    host.scheduler.forceLeased()
    for await call in host.launcher.calls where call == .force(order.run, .conditions) { break }
    // The plugin is not to blame, however the run dies: it takes the next lease's requests at once.
    host.launcher.end(order.run, .forced(.conditions))
    #expect(try await host.surrendered().record.state == .pending)
    #expect(try await host.lease([host.record(2)]) == [])
    #expect(try await host.order().request.sequence == 2)
  }

  @Test("what waits at the end of the lease begins no more, although the store cannot give it back then, and goes back as it was held")
  func forsaken() async throws {
    let host = try Holder()
    #expect(try await host.lease([host.record(1), host.record(2)], token: 7) == [])
    let running = try await host.order()
    let waiting = host.record(running.request.sequence == 1 ? 2 : 1).id
    host.store.fail(with: .other("the disk is full"))
    host.scheduler.forceLeased()
    for await call in host.launcher.calls where call == .force(running.run, .conditions) { break }
    host.launcher.end(running.run, .forced(.conditions))
    for await notice in host.notices { if case .storeFailed = notice { break } }
    host.store.fail(with: nil)
    // The one that waited had the slot for itself as soon as the store worked.
    let given = [try await host.surrendered(), try await host.surrendered()]
    #expect(Set(given.map(\.record.id)) == [waiting, running.request] && given.allSatisfy { $0.fencingToken == 7 })
    #expect(given.first { $0.record.id == waiting }?.runs.isEmpty == true)
    // The next lease's are others.
    #expect(try await host.lease([host.record(3)], token: 8) == [])
    let order = try await host.order()
    #expect(order.request.sequence == 3 && order.fencingToken == 8)
  }

  @Test("a request whose owners were fenced as often as a request may be lost is a dead letter")
  func losses() async throws {
    let host = try Holder()
    #expect(try await host.lease([host.record(1, losses: Limits.lossesInARow)]) == [])
    let given = try await host.surrendered()
    #expect(given.record.state == .failed && given.record.lastMessage == "lost with its host \(Limits.lossesInARow) times in a row")
    #expect(try await host.lease([host.record(2, losses: Limits.lossesInARow - 1)]) == [])
    #expect(try await host.order().request.sequence == 2)
  }

  @Test("of a repeating request, only the occurrence fails that was lost so often")
  func lostOccurrence() async throws {
    let host = try Holder()
    var record = host.record(1, losses: Limits.lossesInARow)
    record.request.repetition = RepeatRule(.every(.seconds(3600)))
    record.occurrence = record.due
    #expect(try await host.lease([record]) == [])
    let given = try await host.surrendered()
    #expect(given.record.state == .pending && given.record.losses == 0 && given.runs.isEmpty)
    #expect(given.record.due > SystemClock().wallTime && given.record.lastOutcome == .lost)
    #expect(given.record.lastMessage == "lost with its host \(Limits.lossesInARow) times in a row")
  }

  @Test(
    "occurrences that the fleet has missed are caught up, although the first one was lost with its host",
    arguments: [1, Limits.lossesInARow])
  func caughtUp(losses: Int) async throws {
    let host = try Holder()
    var record = host.record(1, losses: losses)
    let now = SystemClock().wallTime
    record.request.repetition = RepeatRule(.every(.seconds(3600)), missed: .all(limit: 5, spread: .zero))
    (record.due, record.occurrence) = (now + .seconds(-3 * 3600 - 60), now + .seconds(-3 * 3600 - 60))
    #expect(try await host.lease([record], awakeSince: now) == [])
    if losses == 1 { host.launcher.end(try await host.order().run, .returned(.success, stop: nil)) }
    let given = try await host.surrendered()
    #expect(given.record.missedLeft == 2 && given.record.due <= SystemClock().wallTime, "\(given.record)")
  }

  @Test("an occurrence that was lost with its host was not missed, whoever is there since when")
  func begunElsewhere() async throws {
    let host = try Holder()
    var record = host.record(1, losses: 1)
    record.request.repetition = RepeatRule(.every(.seconds(3600)), missed: .skip)
    record.occurrence = record.due
    #expect(try await host.lease([record], awakeSince: SystemClock().wallTime) == [])
    #expect(try await host.order().request == record.id)
  }

  @Test("whatever the host's clock says, what is due now or later is so by the fleet's clock", arguments: [3600, -3600])
  func clock(ahead seconds: Int) async throws {
    let host = try Holder()
    let ahead = Duration.seconds(seconds)
    host.scheduler.setFleet(host: "a") { SystemClock().wallTime + ahead }
    let before = SystemClock().wallTime + ahead
    var delayed = TaskRequest(identifier: .sample())
    delayed.delay = .seconds(60)
    let moment = before + .seconds(7200)
    let submitted = [TaskRequest(identifier: .sample()), delayed, TaskRequest(identifier: .sample(), earliestBegin: moment)]
    let drafts = try await withCheckedThrowingContinuation { done in
      host.scheduler.draft(submitted, fleet: host.fleet) { done.resume(with: $0) }
    }.map(\.record)
    let now = before...(SystemClock().wallTime + ahead)
    #expect(now.contains(drafts[0].due) && now.contains(drafts[0].submitted))
    #expect(now.contains(drafts[1].due + .seconds(-60)) && drafts[2].due == moment)
    // The fleet gives what is due by its clock: it begins here at once, and its retry is due by that clock too.
    var record = host.record(1)
    record.due = before
    record.request.retry = RetryPolicy(attempts: 2, backoff: .linear, initial: .seconds(60), maximum: .seconds(60))
    #expect(try await host.lease([record]) == [])
    host.launcher.end(try await host.order().run, .returned(.retry, stop: nil))
    let retried = try await host.surrendered().record.due
    #expect((before + .seconds(30)...now.upperBound + .seconds(90)).contains(retried), "\(retried - before)")
    var waiting = host.record(2)
    waiting.due = before + .seconds(60)
    let why = await withCheckedContinuation { done in
      host.scheduler.explanation(of: waiting, edges: [], lastEnded: nil) { why, _ in done.resume(returning: why) }
    }
    #expect(why.gates.map(\.until) == [waiting.due])
  }

  @Test("a payload that does not fit the handler fails the request for good with the reason, whoever has checked it before")
  func contract() async throws {
    let host = try Holder(slots: 3) { payload, _ in payload == [1] ? "it is 1" : nil }
    var new = host.record(2)
    new.request.isUnchecked = true
    var bad = host.record(3)
    bad.request.payload = [1]
    for isUnchecked in [false, true] {
      bad.request.isUnchecked = isUnchecked
      #expect(try await host.lease([bad]) == [])
      let given = try await host.surrendered()
      #expect(given.record.state == .failed && given.runs.isEmpty)
      #expect(given.record.lastMessage == "the payload does not fit the handler of org.example.task: it is 1")
    }
    #expect(try await host.lease([new]) == [])
    #expect(try await host.order().payload == [2])
  }

  @Test("a request that no host has seen gets the operator's defaults of the host that takes it")
  func unchecked() async throws {
    var policy = SchedulingPolicy()
    policy.retry = RetryPolicy(attempts: 2)
    var limits = PluginLimits()
    limits.onLostCondition = .finish
    policy.limits = [.sample(): limits]
    let host = try Holder(slots: 2, policy: policy)
    var record = host.record(1)
    (record.request.retry, record.request.isUnchecked) = (nil, true)
    var decided = host.record(2)
    (decided.request.onLostCondition, decided.request.isUnchecked) = (.stop, true)
    #expect(try await host.lease([record]) == [])
    host.launcher.end(try await host.order().run, .returned(.retry, stop: nil))
    let given = try await host.surrendered()
    #expect(given.record.request.retry == policy.retry && given.record.gates.onLostCondition == .finish)
    #expect(!given.record.request.isUnchecked)
    #expect(try await host.lease([decided]) == [])
    host.launcher.end(try await host.order().run, .returned(.success, stop: nil))
    #expect(try await host.surrendered().record.gates.onLostCondition == .stop)
    // One that a host has seen is left as it is.
    #expect(try await host.lease([host.record(3)]) == [])
    host.launcher.end(try await host.order().run, .returned(.success, stop: nil))
    #expect(try await host.surrendered().record.gates.onLostCondition == .stop)
  }

  @Test("what SQL let through and no host takes fails for good")
  func refusedLate() async throws {
    let host = try Holder()
    var record = host.record(1)
    (record.request.gates.window, record.request.isUnchecked) = ("night", true)
    #expect(try await host.lease([record]) == [])
    let given = try await host.surrendered()
    #expect(given.record.state == .failed)
    #expect(given.record.lastMessage?.contains("there is no maintenance window \"night\"") == true)
  }
}
