import TaskHostSDK
import CTaskHost
import Glibc
import HostThreads
import MemoryStore
import PluginRuntime
import TaskModel
import TaskScheduler
import TypedCalls

/// The parts of a test host: the host's own scheduler, store and plugin runtime, on a virtual clock, with one lock around what tests see.
///
/// Outlives the ``TestHost`` while abandoned threads use it.
final class HostCore: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  let monitor = Monitor()
  let options: TestHostOptions
  let clock: VirtualClock
  let store = MemoryRequestStore(origin: 1)
  let scheduler: SteppedScheduler
  let table: UnsafePointer<taskhost_api>
  let dataDirectory: String
  let plugins: [HostedPlugin]
  /// What plugins may submit to besides their own identifiers.
  let others: [IdentifierPattern]
  /// What plugins may raise besides the events named after them.
  let events: [EventPattern]
  var payloads = TypedPayloads([])

  // The clock.
  var wakes: [(id: UInt64, wake: Wake)] = []
  var waiters: [Waiter] = []
  /// Waits that were cancelled before they began.
  var cancelledWaits: Set<UInt64> = []
  /// Work for the clock's thread, done without the lock.
  var actions: [() -> Void] = []
  var actionsInProgress = 0
  /// How many `holdingClock` calls are in progress.
  var holds = 0
  /// When, in real time, virtual time last passed, or a run last began or ended.
  var lastMovement = SystemClock.now
  var isStopped = false
  var isDraining = false
  var clockThread: pthread_t?
  private var lastNumber: UInt64 = 0

  // What the test sees.
  /// The live runs, in the order of their start.
  var runs: [RunState] = []
  var states: [RunID: RunState] = [:]
  var reports: [RequestID: [RunReport]] = [:]
  var endedRuns = 0
  var faults = Faults()
  var launchLog: [LogLine] = []
  private(set) var conditions: TaskModel.Conditions
  /// When a condition changed, or seems to have changed, by its bit. Others are as they are since the beginning.
  private var conditionsSince: [UInt32: WallTime] = [:]

  init(plugins: [TestPlugin], options: TestHostOptions, dataDirectory: String) throws(TestHostError) {
    self.options = options
    self.dataDirectory = dataDirectory
    self.plugins = plugins.map(HostedPlugin.init)
    others = options.maySubmit.compactMap { try? IdentifierPattern($0) }
    events = options.mayNotify.compactMap { try? EventPattern($0) }
    table = try Self.makeTable()
    conditions = TaskModel.Conditions(rawValue: options.conditions.rawValue)
    clock = VirtualClock(start: options.startTime)
    do { scheduler = try SteppedScheduler(policy: try options.policy(), store: store, clock: clock) } catch let error as TestHostError {
      throw error
    } catch { throw TestHostError.system("\(error)") }
    scheduler.receive(conditionReport)
  }

  /// Returns a number that is unique in this host, with the lock held.
  func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Tells whoever waits for a change of the run, with the lock held.
  func changed(_ run: RunState) {
    for index in waiters.indices {
      guard case .report(let awaited, let holds) = waiters[index].target, awaited === run else { continue }
      if holds(run.report) { waiters[index].isSatisfied = true }
    }
    if !waiters.isEmpty { monitor.broadcast() }
  }

  /// Changes the conditions, with the lock held.
  ///
  /// - Parameter rested: If given, how long those that change or are named in `settled` seem to have been as they are then.
  func setConditions(_ new: TaskModel.Conditions, settled: TaskModel.Conditions = [], for rested: Duration = .zero) {
    for (_, condition) in TaskModel.Conditions.named
    where settled.contains(condition) || new.contains(condition) != conditions.contains(condition) {
      conditionsSince[condition.rawValue] = clock.wallTime + (.zero - rested)
    }
    conditions = new
    scheduler.receive(conditionReport)
    carryOut()
  }

  /// Follows the wall clock, which was set, with the lock held.
  func shiftConditions(by distance: Duration) {
    for (_, condition) in TaskModel.Conditions.named {
      conditionsSince[condition.rawValue] = (conditionsSince[condition.rawValue] ?? options.startTime) + distance
    }
    scheduler.receive(conditionReport)
  }

  /// The conditions in the scheduler's form, with the lock held.
  var conditionReport: ConditionReport {
    ConditionReport(
      states: TaskModel.Conditions.named.map { name, condition in
        ConditionState(
          condition: condition, holds: conditions.contains(condition),
          since: conditionsSince[condition.rawValue] ?? options.startTime, observed: "\(name) as the test wishes")
      })
  }

  /// What a plugin may submit, asking from a run of one of its identifiers. A test host confines no plugin: it may watch every file.
  func rules(of asking: TaskIdentifier) -> SubmissionRules {
    let mayWake = options.mayWake
    return SubmissionRules(others: [asking: others], mayRead: { _, _ in true }, mayWake: { _ in mayWake })
  }

  /// Throws unless a plugin may submit to the identifier. `own` are the plugin's identifiers, `asking` the one that submits.
  func checkMaySubmit(_ own: [TaskIdentifier], _ asking: TaskIdentifier, to identifier: TaskIdentifier) throws(CallFailure) {
    try rules(of: asking).check(identifier, from: asking, own: own)
  }

  /// As ``checkMaySubmit(_:_:to:)``, for everything that the request names.
  func checkMaySubmit(_ own: [TaskIdentifier], _ asking: TaskIdentifier, _ request: TaskModel.TaskRequest) throws(CallFailure) {
    try rules(of: asking).check(request, from: asking, own: own) { (id) throws(CallFailure) in
      do throws(StoreError) { return try store.request(id)?.request.identifier } catch {
        throw CallFailure(.unavailable, error.description)
      }
    }
  }
}
