import HostThreads
import RecordJSON
import StoreTestSupport
import StrictText
import Synchronization
import TaskModel
import TaskScheduler
import TaskStore
import Testing

/// A scheduler on its thread and a real store, which can be looked at in every way there is, and started again.
final class ExtremeHost {
  static let contracts = ["org.example.task", "org.example.other"].map {
    HandlerContract(identifier: .sample($0), kind: .refresh, budget: .seconds(30), grace: .seconds(5), maxConcurrentRuns: 4)
  }

  private let directory: TemporaryDirectory
  private(set) var store: SQLiteRequestStore
  private(set) var scheduler: Scheduler
  private var launcher: ExtremeLauncher
  private let policy: SchedulingPolicy
  private let schedules: [ScheduleName: ScheduledRequest]

  init(
    policy: SchedulingPolicy = ExtremeHost.policy, schedules: [ScheduleName: ScheduledRequest] = [:],
    filling: ((any StoreTransaction, UInt64) throws -> Void)? = nil
  ) throws {
    directory = try TemporaryDirectory()
    self.policy = policy
    self.schedules = schedules
    store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    if let filling { try store.commit { [store] transaction in try filling(transaction, store.origin) } }
    (scheduler, launcher) = try Self.open(store, policy, schedules)
  }

  deinit {
    scheduler.stop()
    store.close()
  }

  /// One that never keeps a plugin waiting for what it did.
  static var policy: SchedulingPolicy {
    var policy = SchedulingPolicy(retry: RetryPolicy(initial: .zero, maximum: .zero))
    policy.resources = ["gpu": 2]
    return policy
  }

  private static func open(
    _ store: SQLiteRequestStore, _ policy: SchedulingPolicy, _ schedules: [ScheduleName: ScheduledRequest]
  ) throws -> (Scheduler, ExtremeLauncher) {
    let launcher = ExtremeLauncher()
    let scheduler = try Scheduler(policy: policy, store: store, clock: SystemClock())
    launcher.report { [weak scheduler] in scheduler?.receive($0) }
    _ = try scheduler.start(launcher, contracts: contracts, schedules: schedules, clocks: ClockReference(boot: "b", offset: 0))
    return (scheduler, launcher)
  }

  /// The host ends, and another opens its books.
  func restart() throws {
    scheduler.stop()
    store.close()
    store = try SQLiteRequestStore(path: directory.file("requests.sqlite"))
    (scheduler, launcher) = try Self.open(store, policy, schedules)
  }

  /// The requests that became of it, or why none did.
  @discardableResult func submit(_ requests: [TaskRequest]) async -> Result<[Submission], RequestRefusal> {
    await withCheckedContinuation { done in scheduler.perform(.submit(requests)) { done.resume(returning: $0) } }
  }

  func snooze(_ id: RequestID, until time: WallTime) async {
    _ = await withCheckedContinuation { done in scheduler.perform(.snooze(id, until: time)) { done.resume(returning: $0) } }
  }

  func clockChanged(_ reference: ClockReference) async {
    _ = await withCheckedContinuation { done in scheduler.clockChanged(reference, slept: false) { done.resume(returning: $0) } }
  }

  /// The runs that have begun and not ended.
  func liveRuns() async -> [RunID] {
    await withCheckedContinuation { done in scheduler.liveRuns { done.resume(returning: $0.map(\.run)) } }
  }

  func end(_ run: RunID, _ ending: RunEnding, _ report: RunReport) async {
    scheduler.receive(.ended(run, ending, report))
    await withCheckedContinuation { done in scheduler.afterTurn { done.resume() } }
  }

  /// Lists, explains, foresees and writes down everything. What it says is of no matter here: it has to say something.
  func lookAround() async throws {
    let all = try store.requests(RequestQuery())
    for record in all {
      let explanation = await withCheckedContinuation { done in
        scheduler.explanation(of: record, edges: (try? store.edges(of: record.id)) ?? [], lastEnded: nil) { explanation, _ in
          done.resume(returning: explanation)
        }
      }
      #expect(record.state.isFinal || record.state == .running || explanation.id == record.id)
      var writer = JSONWriter()
      writer.object { $0.request(record) }
      #expect(JSONReader.isValid(writer.bytes))
    }
    for record in try store.runs(RunQuery()) {
      var writer = JSONWriter()
      writer.object { $0.run(record) }
      #expect(JSONReader.isValid(writer.bytes))
    }
    _ = try store.counts()
    _ = try store.lastRuns()
    _ = try store.pendingRequests(of: Self.contracts.map(\.identifier), after: nil)
    let basis = await withCheckedContinuation { done in scheduler.forecastBasis { done.resume(returning: $0) } }
    let durations = try store.lastRuns().compactMapValues { run in run.ended.map { $0 - run.started } }
    // One that repeats without end and never starts is looked at each time that it is due: that is bounded, and slow without optimization.
    let queue = all.filter { ($0.request.repetition?.interval ?? .seconds(60)) >= .seconds(60) }
    for hours in [1, 24] {
      let to = basis.from + .seconds(hours * 3600)
      let forecast = basis.forecast(of: ForecastQueue(queue, edges: [:], durations: durations), to: to, limit: 200)
      #expect(forecast.from <= forecast.to)
    }
  }
}

/// Runs nothing: its runs begin at once and end when the test says so.
final class ExtremeLauncher: Launcher {
  private let sink = Guarded<(@Sendable (LauncherEvent) -> Void)?>(nil)

  /// Who is told what becomes of runs.
  func report(to sink: @escaping @Sendable (LauncherEvent) -> Void) { self.sink.withLock { $0 = sink } }

  func start(_ orders: [RunOrder]) {
    guard let sink = sink.withLock({ $0 }) else { return }
    for order in orders where order.isAhead || order.tellsBegin { sink(.began(order.run)) }
  }

  func withdraw(_ runs: [RunID]) {
    guard let sink = sink.withLock({ $0 }) else { return }
    for run in runs { sink(.began(run)) }
  }

  func expire(_ run: RunID, reason: StopReason) {}
  func force(_ run: RunID, reason: StopReason) {}
  func shutdown() -> Int { 0 }
}
