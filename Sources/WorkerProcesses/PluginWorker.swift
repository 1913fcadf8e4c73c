import Glibc
import HostThreads
import Synchronization
public import TaskModel
import WorkerLink

/// One plugin's worker process over time. It starts when runs need it and ends when they no longer do.
///
/// The host measures each run's budget and grace itself and kills the process group when they are spent, whatever the worker reports.
/// ``WorkerMachine`` decides what to do; this class does it.
public final class PluginWorker: Sendable {
  /// What the workers of one host share.
  struct Surroundings: Sendable {
    let loop: WorkerEventLoop
    let spawner: WorkerSpawner
    let services: any WorkerServices
    /// Nil if the host has none.
    let cgroups: WorkerCgroups?
    let owners: RunOwners
    /// Answers what launching plugins ask of the stores, which may take seconds.
    let questions = JobDesk<ObjectIdentifier>("launch questions", mostWaiting: 1024, mostOfOne: 16)
    /// Told what happens, on the loop's thread or a caller's; returns promptly.
    let sink: @Sendable (LauncherEvent) -> Void
  }

  /// A plugin that has launched.
  public struct Launch: Sendable {
    /// What it registered.
    public let registrations: [HandlerRegistration]
    /// What it submitted and cancelled, in order.
    public let changes: [LaunchChange]
    /// Whether it asked for its settings or its folder.
    public let askedForSettings: Bool
    /// Whether it asked which of its requests are pending.
    public let askedForRequests: Bool
    /// Restrictions that the kernel could not apply, a sentence each.
    public let missing: [String]
  }

  struct State: Sendable {
    var machine: WorkerMachine
    /// Nil if no process exists.
    var process: WorkerProcess?
  }

  /// What the plugin's workers are started with.
  public let spec: WorkerSpec
  let surroundings: Surroundings
  let policy: any LaunchPolicy
  let state: Guarded<State>

  /// - Parameter policy: Decides what the plugin may have while it launches.
  init(_ spec: WorkerSpec, policy: any LaunchPolicy, surroundings: Surroundings) {
    self.spec = spec
    self.policy = policy
    self.surroundings = surroundings
    state = Guarded(State(machine: WorkerMachine(spec), process: nil))
  }

  // MARK: Commands, on any thread

  /// Starts a process and waits until the plugin has launched in it or failed to. Call it on any thread except the loop's.
  public func launch() throws(LaunchFailure) -> Launch {
    handle(.launch)
    return try state.wait { (state) -> Guarded<State>.Look<Result<Launch, LaunchFailure>> in
      state.machine.launchOutcome.map { .done($0) } ?? .again()
    }.get()
  }

  /// Sets what its processes must register, if known before a launch, and the contracts of its runs.
  public func adopt(_ registrations: [HandlerRegistration], contracts: [HandlerContract]) { handle(.adopt(registrations, contracts)) }

  /// Ends a process without runs, after its shutdown hook. The next run starts another one.
  public func retire() { handle(.retire) }

  /// Ends the process for good. Whoever launched it last calls this when it is no longer needed.
  public func close() { handle(.close) }

  /// Ends the process for good once it has no runs. Call this after another worker gets the runs of its identifiers.
  func leave() { handle(.leave) }

  /// Suspends deadlines while a debugger holds the process, and starts one if there is none, or lets budgets begin anew.
  public func suspendBudgets(_ isSuspended: Bool) { handle(.suspendBudgets(isSuspended)) }

  /// Has the kernel kill its process at that time of the boot clock, in nanoseconds, unless this is called again; 0: the kernel kills its present
  /// process then, and none that starts later.
  func lease(until end: Int64) { handle(.lease(until: end)) }

  func start(_ orders: [RunOrder]) { handle(.start(orders)) }
  func withdraw(_ runs: [RunID]) { handle(.withdraw(runs)) }
  func expire(_ run: RunID, reason: StopReason) { handle(.expire(run, reason)) }
  func force(_ run: RunID, reason: StopReason) { handle(.force(run, reason)) }

  // MARK: Questions, on any thread

  /// Limits and entitlements that nothing enforces here, a sentence each, as its last process reported; empty before the first process.
  public var unenforced: [String] { state.withLock { $0.machine.missing } }

  /// The identifier that the plugin registered or tried to register, even if its launch failed afterwards.
  public var claimedIdentifier: TaskIdentifier? { state.withLock { $0.machine.asked } }

  /// The number of worker processes that this process has started or tried to start.
  public static var starts: UInt64 { incidents.load(ordering: .relaxed) }

  /// Waits until it has a process, and returns its number; nil if none could be started by `deadline`. Call it on any thread except the loop's.
  public func waitForProcess(by deadline: MonotonicTime) -> Int32? {
    state.wait(until: deadline) { (state) -> Int32?? in
      if let process = state.process { return .some(process.processID) }
      return state.machine.phase == .spawning ? nil : .some(nil)
    } ?? nil
  }

  /// Its process; nil if it has none.
  public var processID: Int32? { state.withLock { $0.process?.processID } }

  /// Whether its process was ended for good.
  var isOver: Bool { state.withLock { $0.machine.isClosing && $0.machine.phase == .none } }

  /// Waits for the end of the process. Returns false if `deadline` came first.
  func hasEnded(by deadline: MonotonicTime) -> Bool {
    state.wait(until: deadline) { (state) -> Bool? in state.machine.phase == .none ? true : nil } ?? false
  }

  // MARK: What happens, and what is done for it

  /// - Parameter process: The process that the event comes from, if any. Events of an earlier process are ignored.
  private func handle(_ event: WorkerMachine.Event, from process: WorkerProcess? = nil) {
    let (effects, present) = state.withLock { state -> ([WorkerMachine.Effect], WorkerProcess?) in
      if let process, process !== state.process { return ([], nil) }
      let present = state.process
      return (apply(event, to: &state), present)
    }
    for effect in effects {
      switch effect {
      case .tell(let event): tell(event)
      case .log(let line): policy.log(line)
      case .answer(let call, let number, let answering): if let present { answer(call, number, answering, in: present) }
      case .rouse: state.broadcast()
      case .spawn, .boot, .send, .kill, .wake: break
      }
    }
  }

  private func tell(_ event: LauncherEvent) {
    switch event {
    case .ended(let run, _, _), .withdrawn(let run): surroundings.owners.remove(run)
    default: break
    }
    surroundings.sink(event)
  }

  /// Has the machine handle an event, and carries out the effects on the process before another thread's event can come. So messages are
  /// sent in the order in which they were decided.
  private func apply(_ event: WorkerMachine.Event, to state: inout State) -> [WorkerMachine.Effect] {
    let now = Moment.now(in: state.process)
    switch event {
    case .ended: state.process = nil
    default: break
    }
    var effects = state.machine.handle(event, at: now)
    var next = 0
    var (hasSent, hasFailed) = (false, false)
    while next < effects.count {
      switch effects[next] {
      case .spawn: spawn()
      case .boot: state.process.map { boot($0, isSuspended: state.machine.isSuspended) }
      case .send(let message):
        guard !hasFailed, let process = state.process else { break }
        hasSent = true
        guard !process.send(message) else { break }
        hasFailed = true
        effects += state.machine.handle(.sendFailed(message), at: now)
      case .kill: state.process?.kill()
      case .wake(let time): surroundings.loop.arm(self, at: time)
      case .tell, .log, .answer, .rouse: break
      }
      next += 1
    }
    if hasSent, let since = state.process?.isBlockedSince { effects += apply(.blocked(since: since), to: &state) }
    return effects
  }

  /// The launch budget of a worker that a debugger will hold.
  private static let suspendedLaunchBudget = Duration.seconds(86_400)
  /// Numbers the processes of this host, to tell what one incident ended from what another did.
  private static let incidents = Atomic<UInt64>(0)

  private func spawn() {
    let incident = Self.incidents.add(1, ordering: .relaxed).newValue
    surroundings.spawner.perform { [self] in
      do throws(WorkerSpawn.Failure) {
        let process = try WorkerProcess(spec, number: incident, loop: surroundings.loop, cgroups: surroundings.cgroups, owner: self)
        state.withLock { $0.process = process }
        handle(.spawned(incident: incident, WorkerConduct(began: SystemClock.now)), from: process)
      } catch {
        handle(.spawnFailed(observed: error.observed, error.cause))
      }
    }
  }

  private func boot(_ process: WorkerProcess, isSuspended: Bool) {
    process.attach()
    process.send(
      .boot(
        WorkerBoot(
          host: getpid(), confinement: process.confinement, identifier: spec.identifier, adoption: spec.adoption,
          handlerLimit: spec.handlerLimit, launchBudget: isSuspended ? Self.suspendedLaunchBudget : spec.launchBudget,
          landlockLimit: spec.landlockLimit)))
  }

  // MARK: Calls of the process

  private func answer(_ call: WorkerCall, _ number: UInt64, _ answering: WorkerMachine.Answering, in process: WorkerProcess) {
    let answer: @Sendable (CallAnswer) -> Void = { [weak self] answer in
      process.endCall(call)
      let message = HostMessage.answer(number: number, answer)
      if !process.send(message) { self?.handle(.sendFailed(message), from: process) }
    }
    switch answering {
    case .refuse(let failure): answer(.failure(failure))
    case .askPolicy:
      guard case .launchPending = call else { return answer(askPolicy(call, in: process)) }
      // It may have to ask the fleet's database.
      let isTaken = surroundings.questions.take(from: ObjectIdentifier(self)) { [self] in
        answer(askPolicy(call, in: process))
        return .zero
      } failed: {
        answer(.failure(CallFailure(.unavailable, $0.description)))
      }
      if !isTaken { answer(.failure(CallFailure(.limit, "too many questions wait for an answer: ask again later"))) }
    case .serve(let run): surroundings.services.serve(call, for: run, completion: answer)
    }
  }

  private func askPolicy(_ call: WorkerCall, in process: WorkerProcess) -> CallAnswer {
    do throws(CallFailure) {
      switch call {
      case .admit(let identifier):
        try policy.admit(identifier)
        handle(.admitted(identifier), from: process)
      case .settings(let identifier): return .text(policy.settings(for: identifier))
      case .dataDirectory(let identifier): return .text(try policy.dataDirectory(for: identifier))
      case .launchPending(let identifiers, let request): return .pending(try policy.pendingRequests(of: identifiers, after: request))
      case .resourceTokens(let name): return .count(try policy.resourceTokens(name))
      case .admitRequest(let request, let identifier): try policy.admit(request, from: identifier)
      default: return .failure(.launchIsOver)
      }
      return .done
    } catch { return .failure(error) }
  }
}

/// What its process does and says, on the loop's thread.
extension PluginWorker: WorkerProcess.Owner, WorkerEventLoop.Sleeper {
  func received(_ message: WorkerMessage, from process: WorkerProcess) {
    var message = message
    switch message {
    case .confined(let missing): message = .confined(missing: process.unenforced(missing))
    // Output of the launch, including an unfinished line, belongs to no run. The worker has flushed it.
    case .launched: process.readOutput()
    // Output until the end of its only run, including an unfinished line, belongs to that run, which is unknown here afterwards.
    case .ended(let endings): if state.withLock({ $0.machine.isLast(endings) }) { process.readOutput() }
    case .call(_, let call):
      guard process.beginCall(call) else {
        return handle(.violated("it asks for more at once than its memory can hold"), from: process)
      }
    default: break
    }
    handle(.received(message), from: process)
  }

  func wrote(_ line: LogLine, in process: WorkerProcess) { handle(.wrote(line), from: process) }

  func broke(_ process: WorkerProcess, _ reason: String) {
    handle(.violated("it sent bytes that are not a message on its link: \(reason)"), from: process)
  }

  func ended(_ process: WorkerProcess, _ end: WorkerEnd) {
    handle(.ended(end) { process.mayHaveBegun($0, since: $1) }, from: process)
  }

  func due(at now: MonotonicTime) -> MonotonicTime {
    handle(.woken(blockedSince: state.withLock { $0.process }?.isBlockedSince))
    return state.withLock { $0.machine.deadlines.map(\.end).min() ?? .distantFuture }
  }
}
