import Failpoints
import HostThreads
import Synchronization
public import TaskModel

/// Takes what is sent to the scheduling engine, on any thread, and drives the engine on a thread of its own, which is also the one that writes
/// to the store.
///
/// It is made first and knows nobody: launchers, plugins' services and the machine's monitor get it when they are made, and it gets the
/// launcher when it starts.
public final class Scheduler: @unchecked Sendable {  // reason: the engine belongs to the thread, the rest is touched with `monitor` held
  let store: any RequestStore
  let clock: any HostClock
  let engine: SchedulingEngine
  let policy: SchedulingPolicy
  private let unrecorded: @Sendable (RunID) -> Void

  private let liveRuns = Atomic(0)
  private let hasStarted = Atomic(false)

  /// How many runs are live; a moment old.
  public var liveRunCount: Int { liveRuns.load(ordering: .relaxed) }

  private let monitor = Monitor()
  // With `monitor` held.
  private var commands: [Command] = []
  /// Whether one of them is for the thread to look at now.
  private var isCalled = false
  /// Whether begins are: they are the answers to what was asked, or a rate counts them.
  private var awaitsBegins = false
  private var isOver = false
  private var isServing = false
  private var hasEnded = false
  /// Held while something is looked at after the thread has ended.
  private let afterwards = Monitor()

  /// After so long without a turn, the store gives back what it keeps to be fast. Set before the start.
  var rest = Duration.seconds(30)

  /// A scheduler that takes commands; it carries them out once it has started.
  ///
  /// - Parameter unrecorded: Told of each run whose end comes after the thread has ended, or could not be recorded until then: the next
  ///   host counts it as lost. On any thread.
  public init(
    policy: SchedulingPolicy, store: any RequestStore, clock: any HostClock, unrecorded: @escaping @Sendable (RunID) -> Void = { _ in }
  ) throws(StoreError) {
    self.policy = policy
    self.store = store
    self.clock = clock
    self.unrecorded = unrecorded
    let core = SchedulerCore(policy: policy, origin: store.origin, lastSequence: try store.highestSequence(), now: clock.wallTime)
    engine = SchedulingEngine(core, store: store)
  }

  /// Seals the registry, settles what the previous host process left behind, and begins to run what is due.
  ///
  /// - Parameters:
  ///   - launcher: Runs the handlers.
  ///   - contracts: The handlers there are.
  ///   - schedules: The requests that the configuration asks for.
  ///   - changes: What plugins asked for while they launched, to be carried out in this order.
  ///   - rejection: Why a submission's payload is refused, or nil. Called on the scheduler's thread; returns promptly.
  ///   - crashed: The runs that took the previous host process along, with the signal and the stack, as its crash memory names them. They
  ///     end `crashed`, and count against their plugins.
  ///   - begun: The runs that had begun of those that the previous host process had handed out ahead, as its crash memory names them.
  ///   - clocks: What the wall clock and the boot clock are to each other now; nil: that is not known, and delays follow the wall clock.
  ///   - observe: See ``Notice``.
  /// - Returns: How many other runs were lost with the previous host process, and the launch submissions that were refused.
  public func start(
    _ launcher: any Launcher, contracts: [HandlerContract], schedules: [TaskIdentifier: ScheduledRequest], changes: [LaunchChange] = [],
    rejection: @escaping @Sendable (_ payload: [UInt8], TaskIdentifier) -> String? = { _, _ in nil }, crashed: [RunID: String] = [:],
    begun: Set<RunID> = [], clocks: ClockReference? = nil, observe: @escaping @Sendable (Notice) -> Void = { _ in }
  ) throws(StoreError) -> (lost: Int, refused: [(TaskRequest, RequestRefusal)]) {
    hasStarted.store(true, ordering: .releasing)
    engine.core.rejection = rejection
    let opening = try engine.open(
      contracts, schedules: schedules, changes: changes, crashed: crashed, begun: begun, clocks: clocks, now: clock.wallTime,
      at: clock.monotonicTime)
    if let watches = opening.turn.watches, !watches.isEmpty { observe(.filesAwaited(watches)) }
    for change in opening.turn.pluginHealth { observe(change.notice) }
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

  /// Ends the thread and waits until it has ended; drain first. What was sent and not begun, and what is sent from then on, is refused.
  public func stop() {
    monitor.locked {
      isOver = true
      monitor.broadcast()
      while isServing { monitor.wait() }
    }
  }

  // MARK: Sent from other threads, see Scheduler+Requests and Scheduler+World

  /// What a launcher tells. What it tells before the start is nothing of the scheduler's: it concerns plugins that are not registered yet.
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
    case .expired, .progress, .log, .stuck, .output: break
    }
  }

  /// Sends something to the thread.
  func send(_ command: Command) {
    monitor.lock()
    guard !hasEnded else {
      monitor.unlock()
      return refuse(command)
    }
    commands.append(command)
    let isQuiet = if case .input(.began) = command { !awaitsBegins } else { false }
    if !isQuiet, !isCalled {
      isCalled = true
      monitor.signal()
    }
    monitor.unlock()
  }

  /// The thread has ended: nobody waits for ever. On the sender's thread, or on the scheduler's last legs.
  private func refuse(_ command: Command) {
    switch command {
    case .input(.write(let write)): write.fail(Self.hasStopped)
    case .input(.ended(let run, _, _)): unrecorded(run)
    case .inspect(let body): afterwards.locked { body(engine.core, clock.wallTime) }
    case .expire(_, let completion): completion([])
    case .drain(_, let completion): completion()
    case .input, .force, .conditions: break
    }
  }

  private static let hasStopped = RequestRefusal(.unavailable, "the host has stopped: submit again when it is back")

  // MARK: For the thread

  /// Waits for commands, or until `wakeAt`. Nil: it is over.
  ///
  /// - Parameter awaitsBegins: Whether begins wake the thread.
  func nextBatch(by wakeAt: MonotonicTime, awaitsBegins: Bool) -> [Command]? {
    monitor.lock()
    defer { monitor.unlock() }
    self.awaitsBegins = awaitsBegins
    // What came before begins were waited for.
    if awaitsBegins, !commands.isEmpty { isCalled = true }
    while !isCalled, !isOver, wakeAt > clock.monotonicTime {
      if !monitor.wait(until: wakeAt) { break }
    }
    guard !isOver else { return nil }
    isCalled = false
    defer { commands.removeAll(keepingCapacity: true) }
    return commands
  }

  /// So many runs are live now.
  func noteLive(_ count: Int) { liveRuns.store(count, ordering: .relaxed) }

  /// Whether nothing has been sent that the thread has not taken.
  var isIdle: Bool { monitor.locked { commands.isEmpty } }

  /// The runs whose crash or forced end has been sent and not taken.
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
