import Failpoints
import HostThreads
import Synchronization
public import TaskModel

/// Queues commands for the scheduling engine, from any thread, and starts the thread that runs the engine and writes to the store.
///
/// The host creates it first and passes it to launchers, plugin services and the machine's monitor. It receives its launcher at the start.
public final class Scheduler: @unchecked Sendable {  // reason: the engine belongs to the thread; `monitor` guards the rest
  let store: any RequestStore
  let clock: any HostClock
  let engine: SchedulingEngine
  private let unrecorded: @Sendable (RunID) -> Void

  private let liveRuns = Atomic(0)
  private let hasStarted = Atomic(false)

  /// The number of live runs as of the last turn.
  public var liveRunCount: Int { liveRuns.load(ordering: .relaxed) }

  private let monitor = Monitor()
  // Guarded by `monitor`.
  private var commands: [Command] = []
  /// Whether a command needs the thread now.
  private var isCalled = false
  /// Whether begins wake the thread, because a change waits for them or a rate counts them.
  private var awaitsBegins = false
  private var isOver = false
  private var isServing = false
  private var hasEnded = false
  /// Shows ``isCalled`` to the spinning thread, which does not hold the lock.
  private let calls = Atomic(false)
  /// Used on the scheduler's thread.
  private var spin = BriefSpin()
  /// Serializes commands that are handled after the thread has ended.
  private let afterwards = Monitor()

  /// The time without a turn after which the store releases its caches. Set before the start.
  var rest = Duration.seconds(30)

  /// Creates a scheduler that queues commands until it starts.
  ///
  /// - Parameters:
  ///   - fleet: What the ids of the fleet's requests share; nil if the host is in none.
  ///   - unrecorded: Called on any thread for each run whose end arrived after the thread ended, or could not be recorded before. The next
  ///     host process counts it as lost.
  public init(
    policy: SchedulingPolicy, store: any RequestStore, clock: any HostClock, fleet: UInt64? = nil,
    unrecorded: @escaping @Sendable (RunID) -> Void = { _ in }
  ) throws(StoreError) {
    self.store = store
    self.clock = clock
    self.unrecorded = unrecorded
    let core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: clock.wallTime)
    core.fleet = fleet
    engine = SchedulingEngine(core, store: store)
  }

  /// Seals the registry, settles what the previous host process left behind, and begins to run what is due.
  ///
  /// - Parameters:
  ///   - launcher: Runs the handlers.
  ///   - contracts: The registered handlers.
  ///   - awaitingApproval: The identifiers whose plugins wait for approval.
  ///   - schedules: The requests that the configuration asks for.
  ///   - changes: What plugins asked for while they launched, in order.
  ///   - rejection: Returns why a submission's payload is refused; nil accepts it. Called on the scheduler's thread; must return promptly.
  ///   - completions: What is submitted when requests of an identifier end.
  ///   - crashed: The runs that crashed the previous host process, with signal and stack, from its crash memory. They end `crashed` and
  ///     count against their plugins.
  ///   - begun: The runs that the previous host process handed out ahead and that had begun, from its crash memory.
  ///   - moved: What of the store's requests the fleet has now, and as what: it ends here.
  ///   - clocks: The current offset between wall clock and boot clock; if nil, delays follow the wall clock.
  ///   - observe: See ``Notice``.
  /// - Returns: The number of other runs lost with the previous host process, and the refused launch submissions.
  public func start(
    _ launcher: any Launcher, contracts: [HandlerContract], awaitingApproval: Set<TaskIdentifier> = [],
    schedules: [ScheduleName: ScheduledRequest], changes: [PluginLaunchChange] = [],
    rejection: @escaping @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }, completions: CompletionRule? = nil,
    crashed: [RunID: String] = [:], begun: Set<RunID> = [], moved: [RequestID: RequestID] = [:],
    clocks: ClockReference? = nil,
    observe: @escaping @Sendable (Notice) -> Void = { _ in }
  ) throws(StoreError) -> (lost: Int, refused: [(TaskRequest, RequestRefusal)]) {
    hasStarted.store(true, ordering: .releasing)
    engine.core.rejection = rejection
    engine.core.completions = completions
    engine.core.policy.awaitingApproval = awaitingApproval
    let opening = try engine.open(
      contracts, schedules: schedules, changes: changes, crashed: crashed, begun: begun, moved: moved, clocks: clocks,
      now: clock.wallTime,
      at: clock.monotonicTime)
    if let watches = opening.turn.watches, !watches.isEmpty { observe(.filesAwaited(watches)) }
    for change in opening.turn.pluginHealth { observe(change.notice) }
    for state in opening.turn.objectives { observe(.objective(state)) }
    for incident in opening.turn.found { observe(.incident(incident)) }
    for (rule, step) in opening.turn.told { observe(.told(rule: rule, step)) }
    monitor.locked { isServing = true }
    do {
      try HostThread.start("scheduler", precise: true) { [self] in
        SchedulerThread(self, launcher, observe).serve()
        ended()
      }
    } catch {
      monitor.locked { isServing = false }
      throw StoreError.other(error.description)
    }
    return (opening.lost, opening.refused)
  }

  /// Ends the thread and waits for it; drain first. Commands that have not begun, and later ones, are refused.
  public func stop() {
    monitor.locked {
      isOver = true
      calls.store(true, ordering: .relaxed)
      monitor.broadcast()
      while isServing { monitor.wait() }
    }
  }

  // MARK: Called on other threads, see also Scheduler+Requests and Scheduler+World

  /// Receives a launcher's event. Events before the start are ignored: they concern plugins that are not registered yet.
  public func receive(_ event: LauncherEvent) {
    guard hasStarted.load(ordering: .acquiring) else { return }
    switch event {
    case .ended(let run, let ending, let report):
      Failpoint.outcomeReceived.hit()
      send(.input(.ended(run, ending, report)))
    case .began(let run): send(.input(.began(run, clock.wallTime)))
    case .withdrawn(let run): send(.input(.withdrawn(run)))
    case .shortage(let identifier, let sentence, let cause):
      inspect { core, now in core.isShort(identifier, sentence, cause, now: now) }
    case .relieved(let identifier): inspect { core, _ in core.handlers[identifier]?.shortage = nil }
    case .suspended(let identifier, let reason): inspect { core, now in core.suspend(identifier, reason, now: now) }
    case .resumed(let identifier): inspect { core, now in core.suspend(identifier, nil, now: now) }
    case .misbehaved(let identifier, let what, let incident):
      write({ (_: Result<Void, RequestRefusal>) in }) { core, transaction, now in
        try core.recordFailure(identifier, what, incident, transaction, now: now)
      }
    case .expired, .progress, .work, .log, .stuck, .output: break
    }
  }

  /// Queues a command; after the thread has ended, see ``refuse(_:)``.
  func send(_ command: Command) {
    monitor.lock()
    guard !hasEnded else {
      monitor.unlock()
      return refuse(command)
    }
    commands.append(command)
    let isQuiet = if case .input(.began) = command { !awaitsBegins } else { false }
    let wakes = !isQuiet && !isCalled
    if wakes {
      isCalled = true
      calls.store(true, ordering: .relaxed)
    }
    monitor.unlock()
    // A thread that wakes while the lock is held sleeps again at once.
    if wakes { monitor.signal() }
  }

  /// Refuses a command after the thread has ended, on the sender's thread, or on the scheduler's thread as it ends.
  private func refuse(_ command: Command) {
    switch command {
    case .input(.write(let write)): write.fail(Self.hasStopped)
    case .input(.ended(let run, _, _)): unrecorded(run)
    case .inspect(let body): afterwards.locked { body(engine.core, clock.wallTime) }
    case .expire(_, let completion): completion(.success([]))
    case .drain(_, let completion): completion()
    case .adopt(let adoption): adoption.completion(.failure(Self.hasStopped))
    case .input, .force, .forceLeased, .conditions, .spare: break
    }
  }

  static let hasStopped = RequestRefusal(.unavailable, "the host has stopped: submit again when it is back")

  // MARK: Called on the scheduler's thread

  /// Waits for commands, or until `wakeAt`. Returns nil once the scheduler stops.
  ///
  /// - Parameter awaitsBegins: Whether begins wake the thread.
  func nextBatch(by wakeAt: MonotonicTime, awaitsBegins: Bool) -> [Command]? {
    if wakeAt > clock.monotonicTime + spin.longest { spin.wait { calls.load(ordering: .relaxed) } }
    monitor.lock()
    defer { monitor.unlock() }
    self.awaitsBegins = awaitsBegins
    // These commands may be begins that arrived before the thread waited for them.
    if awaitsBegins, !commands.isEmpty { isCalled = true }
    while !isCalled, !isOver, wakeAt > clock.monotonicTime {
      if !monitor.wait(until: wakeAt) { break }
    }
    guard !isOver else { return nil }
    spin.ended(asAwaited: isCalled)
    isCalled = false
    calls.store(false, ordering: .relaxed)
    defer { commands.removeAll(keepingCapacity: true) }
    return commands
  }

  /// Sets the number of live runs.
  func noteLive(_ count: Int) { liveRuns.store(count, ordering: .relaxed) }

  /// Whether no command is queued.
  var isIdle: Bool { monitor.locked { commands.isEmpty } }

  /// The runs whose crash or forced end is queued.
  var failuresToCome: [RunID] {
    monitor.locked {
      commands.compactMap { command in
        switch command {
        case .input(.ended(let run, .crashed, _)), .input(.ended(let run, .forced, _)): run
        default: nil
        }
      }
    }
  }

  private func ended() {
    let left = monitor.locked {
      hasEnded = true
      defer { commands.removeAll() }
      return commands
    }
    engine.refuseParked(Self.hasStopped)
    for input in engine.unrecorded { refuse(.input(input)) }
    for command in left { refuse(command) }
    monitor.locked {
      isServing = false
      monitor.broadcast()
    }
  }
}
