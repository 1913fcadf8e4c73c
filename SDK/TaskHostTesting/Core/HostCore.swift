import TaskHostSDK
import CTaskHost
import Glibc
import HostThreads
import MemoryStore
import PluginRuntime
import TaskModel
import TaskScheduler
import TypedCalls

/// What a test host is made of: the host's own scheduler, store and plugin runtime, on a virtual clock, with one lock around what the test
/// sees of them.
///
/// Outlives the ``TestHost`` while threads that were left behind still use it.
final class HostCore: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  let monitor = Monitor()
  let options: TestHostOptions
  let clock: VirtualClock
  let store = MemoryRequestStore(origin: 1)
  let scheduler: SteppedScheduler
  /// The table plugins get.
  let table: UnsafePointer<taskhost_api>
  let dataDirectory: String
  let plugins: [HostedPlugin]
  /// What plugins may submit to besides their own identifiers.
  let others: [IdentifierPattern]
  var payloads = TypedPayloads([])

  // The clock.
  var wakes: [(id: UInt64, wake: Wake)] = []
  var waiters: [Waiter] = []
  /// Waits that were cancelled before they began.
  var cancelledWaits: Set<UInt64> = []
  /// Work for the clock's thread, done without the lock.
  var actions: [() -> Void] = []
  var actionsInProgress = 0
  /// How often the test holds the clock.
  var holds = 0
  /// When, in real time, time passed or a run began or ended last.
  var lastMovement = SystemClock.now
  var isStopped = false
  var clockThread: pthread_t?
  private var lastNumber: UInt64 = 0

  // What the test sees.
  /// The live runs, in the order of their beginning.
  var runs: [RunState] = []
  /// All runs there were.
  var states: [RunID: RunState] = [:]
  var reports: [RequestID: [RunReport]] = [:]
  /// How many runs have ended.
  var endedRuns = 0
  var faults = Faults()
  var launchLog: [LogLine] = []
  var conditions: TaskModel.Conditions

  init(plugins: [TestPlugin], options: TestHostOptions, dataDirectory: String) throws(TestHostError) {
    self.options = options
    self.dataDirectory = dataDirectory
    self.plugins = plugins.map(HostedPlugin.init)
    others = options.maySubmit.compactMap { try? IdentifierPattern($0) }
    table = try Self.makeTable()
    conditions = TaskModel.Conditions(rawValue: options.conditions.rawValue)
    clock = VirtualClock(start: options.startTime)
    do { scheduler = try SteppedScheduler(policy: try options.policy(), store: store, clock: clock) } catch let error as TestHostError {
      throw error
    } catch { throw TestHostError.system("\(error)") }
    scheduler.receive(conditionReport)
  }

  /// With the lock held: a number that no other thing of this host has.
  func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// With the lock held: something about a run has changed; whoever waits for that is told.
  func changed(_ run: RunState) {
    for index in waiters.indices {
      guard case .report(let awaited, let holds) = waiters[index].target, awaited === run else { continue }
      if holds(run.report) { waiters[index].isSatisfied = true }
    }
    if !waiters.isEmpty { monitor.broadcast() }
  }

  /// With the lock held: the conditions as the scheduler knows them.
  var conditionReport: ConditionReport {
    ConditionReport(
      states: TaskModel.Conditions.named.map { name, condition in
        ConditionState(
          condition: condition, holds: conditions.contains(condition), since: clock.wallTime, observed: "\(name) as the test wishes")
      })
  }

  /// Throws unless a plugin with these identifiers, of which one asks, may submit to the identifier.
  func checkMaySubmit(_ own: [TaskIdentifier], _ asking: TaskIdentifier, to identifier: TaskIdentifier) throws(CallFailure) {
    try SubmissionRules(others: [asking: others]).check(identifier, from: asking, own: own)
  }
}
