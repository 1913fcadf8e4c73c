import CTaskHost
import FoundationEssentials
import TaskHostSDK

/// What a test host is made of: one lock over the clock, the runs, the requests and the store.
///
/// Outlives the ``TestHost`` while threads that were left behind still use it.
final class HostCore: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  let monitor = Monitor()
  let options: TestHostOptions
  /// The table plugins get.
  let table: UnsafePointer<taskhost_api>
  let dataDirectory: String
  let plugins: [HostedPlugin]

  // The clock.
  /// Time since the test host began.
  var now = Duration.zero
  /// What the wall clock was at the beginning, jumps included.
  var wallStart: Int64
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
  var lastMovement: UInt64 = 0
  var isStopped = false
  private var lastNumber: UInt64 = 0

  // What the host keeps.
  var runs: [RunState] = []
  var requests: [String: RequestRecord] = [:]
  var requestOrder: [String] = []
  var memory: [String: StoredState] = [:]
  var faults = Faults()
  var launchLog: [LogLine] = []
  var conditions: Conditions
  var isDraining = false

  init(plugins: [TestPlugin], options: TestHostOptions, dataDirectory: String) throws(TestHostError) {
    self.options = options
    self.dataDirectory = dataDirectory
    self.plugins = plugins.map(HostedPlugin.init)
    table = try HostTable.make()
    conditions = options.conditions
    wallStart = Int64((options.start.timeIntervalSince1970 * 1000).rounded())
  }

  /// With the lock held: a number that no other thing of this host has.
  func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// With the lock held: the wall clock, milliseconds since 1970.
  var wallMilliseconds: Int64 { wallStart + now.wholeMilliseconds }

  /// With the lock held: something about a run has changed; whoever waits for that is told.
  func changed(_ run: RunState) {
    for index in waiters.indices {
      guard case .report(let awaited, let holds) = waiters[index].target, awaited === run else { continue }
      if holds(run.report) { waiters[index].isSatisfied = true }
    }
    if !waiters.isEmpty { monitor.wakeClock() }
  }
}
