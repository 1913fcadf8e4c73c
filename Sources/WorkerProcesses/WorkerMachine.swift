import TaskModel
import WorkerLink

/// One plugin's worker process over time, as a value: events go in, effects come out.
///
/// It reads no clock and touches nothing outside itself. ``PluginWorker`` keeps it inside a lock and carries its effects out.
struct WorkerMachine: Sendable {
  /// Where the process is in its life.
  enum Phase: Hashable {
    /// There is no process.
    case none
    /// The spawner was asked for one.
    case spawning
    /// It is loading and launching the plugin.
    case launching(until: MonotonicTime)
    /// It has runs.
    case serving
    /// It has launched and has no run.
    case idle(until: MonotonicTime)
    /// It was asked to end.
    case stopping(until: MonotonicTime)
    /// It was killed and has not been reaped.
    case killed(Killing)

    var isStopping: Bool { if case .stopping = self { true } else { false } }
  }

  /// Why the host killed a process.
  enum Killing: Hashable {
    /// It did not report its launch in time.
    case launchOverdue
    /// The host ended during the launch.
    case hostEnds
    /// Its launch failed, which was already reported.
    case launchFailed
    /// Runs did not stop in their grace.
    case force([RunID: StopReason])
    /// It broke the protocol: a clause whose subject is the worker.
    case violation(String)
    /// It was asked to end and did not in time.
    case shutdownOverdue
  }

  /// What happens.
  enum Event: Sendable {
    // The host's commands.

    /// Somebody waits for a launch.
    case launch
    /// What every process must register, and the contracts of its runs.
    case adopt([HandlerRegistration], [HandlerContract])
    case start([RunOrder])
    case withdraw([RunID])
    case expire(RunID, StopReason)
    case force(RunID, StopReason)
    /// A process without runs must end.
    case retire
    /// Whether a debugger holds its processes: then no deadline ends a run or a process that was not asked to end. Starts a process if there
    /// is none.
    case suspendBudgets(Bool)
    /// When its process must have ended, in nanoseconds of the boot clock; 0: processes that start later may go on.
    case lease(until: Int64)
    /// The same as ``close`` once it has no runs: a new worker gets those that begin from now on.
    case leave
    /// The process must end; no other is started for remaining runs.
    case close

    // The results of effects.

    /// A process was started; `WorkerConduct` is that of a process that has said nothing.
    case spawned(incident: UInt64, WorkerConduct)
    case spawnFailed(observed: String, ShortageCause)
    /// A message was not sent: too much waits for the process, or the system refused it.
    case sendFailed(HostMessage)
    /// Messages wait because the process has not read since then.
    case blocked(since: MonotonicTime)
    /// The host's policy permits the identifier.
    case admitted(TaskIdentifier)
    /// A deadline may have come. `blockedSince` is nil if no message waits.
    case woken(blockedSince: MonotonicTime?)

    // What the process does.

    case received(WorkerMessage)
    /// It wrote a line to its standard output or error.
    case wrote(LogLine)
    /// It broke the protocol outside its messages.
    case violated(String)
    /// It has ended and was reaped. `mayHaveBegun` says whether a run may have begun that was sent when `since` runs had begun.
    case ended(WorkerEnd, mayHaveBegun: @Sendable (RunID, _ since: UInt64) -> Bool)
  }

  /// What to do, in this order. The first five happen before the next event, so that messages keep their order.
  enum Effect: Sendable {
    /// Start a process: ``Event/spawned(incident:_:)`` or ``Event/spawnFailed(observed:_:)`` follows.
    case spawn
    /// Tell the new process what to load.
    case boot
    case send(HostMessage)
    /// Kill the process group: ``Event/ended(_:mayHaveBegun:)`` follows.
    case kill
    /// Send ``Event/woken(blockedSince:)`` at that time at the latest.
    case wake(at: MonotonicTime)
    case tell(LauncherEvent)
    /// A line of a plugin that has not launched.
    case log(LogLine)
    case answer(WorkerCall, number: UInt64, Answering)
    /// Wake threads that wait for the outcome of a launch or the end of the process.
    case rouse
  }

  /// Who answers a call of the process.
  enum Answering: Sendable {
    case refuse(CallFailure)
    /// By the policy of the launch.
    case askPolicy
    /// By the host's services.
    case serve(RunReference)
  }

  /// What a deadline limits.
  enum Timeout: Hashable {
    /// The report of the launch.
    case launch
    /// A run for an idle process.
    case idle
    /// The end of a process that was asked to end.
    case shutdown
    /// The process reads its messages.
    case reading
    /// The answer whether a run that was asked back has begun.
    case answer(RunID)
    /// The end of a run, after its budget, its grace and some patience.
    case run(RunID)
  }

  /// What is known of the current process.
  struct Present: Sendable {
    /// The number of what happens to it.
    let incident: UInt64
    var conduct: WorkerConduct
    /// The identifiers that it requested and that were permitted.
    var admitted: Set<TaskIdentifier> = []
    /// Since when it has not read waiting messages; nil if none wait.
    var blockedSince: MonotonicTime?
  }

  let spec: WorkerSpec
  private(set) var phase = Phase.none
  /// Nil if no process exists.
  var present: Present?
  var contracts: [TaskIdentifier: HandlerContract] = [:]
  /// What every process must register; nil until the first has launched.
  var expected: [HandlerRegistration]?
  var runs: [RunID: WorkerRun] = [:]
  /// The runs in the order of their arrival.
  var order: [RunID] = []
  /// How many runs of each identifier count as running.
  var begun: [TaskIdentifier: Int] = [:]
  /// Runs that were handed out ahead and whose begin is still to be reported. The worker itself reports a begin that counts for a rate.
  var untold: [RunID] = []
  /// Runs that expired and have ended: their submissions are accepted until their grace is over.
  var graced: [RunID: (reference: RunReference, end: MonotonicTime)] = [:]
  /// Whether the host was told of a shortage that is not over.
  var isShort = false
  /// When a shortage of an identifier's runs was last reported.
  var shortageToldAt: [TaskIdentifier: MonotonicTime] = [:]
  var launchOutcome: Result<PluginWorker.Launch, LaunchFailure>?
  /// Restrictions that nothing enforces on its last process, a sentence each.
  var missing: [String] = []
  var askedForSettings = false
  var askedForRequests = false
  /// The first identifier that it registered, or tried to.
  var asked: TaskIdentifier?
  private(set) var isClosing = false
  private var isLeaving = false
  private(set) var isSuspended = false
  /// When its process must have ended, in nanoseconds of the boot clock; 0: at no time.
  private var leaseEnd: Int64 = 0
  /// The same, as its present process was told it last.
  private(set) var toldLeaseEnd: Int64 = 0
  /// When deadlines were last let run again.
  private var resumedAt: MonotonicTime?
  /// The effects of the event that is being handled.
  var effects: [Effect] = []

  /// How long a process may take to end.
  static let shutdownLimit = Duration.seconds(5)
  /// How long the host waits for a launch beyond its budget. The worker enforces the budget itself, so only a stopped worker is late.
  static let launchPatience = Duration.seconds(1)
  /// How long a worker may leave messages unread.
  static let readLimit = Duration.seconds(10)
  /// How long a worker may take to answer whether runs that were asked back have begun.
  static let answerLimit = Duration.seconds(10)

  init(_ spec: WorkerSpec) { self.spec = spec }

  /// Handles an event and returns what to do. An event that cannot happen in a phase is ignored.
  mutating func handle(_ event: Event, at now: Moment) -> [Effect] {
    switch event {
    case .launch:
      launchOutcome = nil
      if phase == .none { spawn() }
    case .adopt(let registrations, let contracts): adopt(registrations, contracts)
    case .start(let orders): start(orders, at: now)
    case .withdraw(let ids): withdraw(ids, at: now)
    case .expire(let run, let reason): expire(run, reason, at: now)
    case .force(let run, let reason): force(run, reason, at: now)
    case .retire: if case .idle = phase { stop(at: now) }
    case .suspendBudgets(let isSuspended): suspendBudgets(isSuspended, at: now)
    case .lease(let end): lease(until: end)
    case .leave: isLeaving = true
    case .close: close(at: now)
    case .spawned(let incident, let conduct): spawned(Present(incident: incident, conduct: conduct), at: now)
    case .spawnFailed(let observed, let cause):
      guard phase == .spawning else { break }
      phase = .none
      fail(LaunchFailure(step: .load, observed: observed), lacking: cause, at: now)
      effects.append(.rouse)
    case .sendFailed(.start), .sendFailed(.withdraw), .sendFailed(.answer): violate("what it is sent does not reach it")
    // Deadlines cover its runs and its end.
    case .sendFailed: break
    case .blocked(let since):
      guard phase == .serving else { break }
      present?.blockedSince = since
      effects.append(.wake(at: since + Self.readLimit))
    case .admitted(let identifier): present?.admitted.insert(identifier)
    case .woken(let blockedSince):
      present?.blockedSince = blockedSince
      for (timeout, end) in deadlines where now.time >= end { runOut(timeout, at: now) }
    case .received(let message): receive(message, at: now)
    case .wrote(let line): output(line)
    case .violated(let what): violate(what)
    case .ended(let end, let mayHaveBegun): ended(end, mayHaveBegun, at: now)
    }
    // The end of a killed process decides which of its runs had begun.
    if case .killed = phase {} else { tellBegins() }
    if isLeaving, !isClosing, runs.isEmpty { close(at: now) }
    defer { effects = [] }
    return effects
  }

  // MARK: The life of the process

  private mutating func spawn() {
    phase = .spawning
    effects.append(.spawn)
  }

  private mutating func spawned(_ process: Present, at now: Moment) {
    guard phase == .spawning else { return }
    present = process
    let end = now.time + spec.launchBudget + Self.launchPatience
    phase = .launching(until: end)
    effects += [.wake(at: end), .boot]
    if isSuspended { effects += [.send(.suspendBudgets(true)), .rouse] }
    toldLeaseEnd = leaseEnd
    if leaseEnd > 0 { effects.append(.send(.lease(until: leaseEnd))) }
    if isClosing { kill(.hostEnds) }
  }

  /// Its plugin has launched.
  mutating func serve(at now: Moment) {
    phase = .serving
    if !contracts.isEmpty { effects.append(.send(.contracts(Array(contracts.values)))) }
    sendWaiting(at: now)
    rest(at: now)
  }

  /// Keeps a process without runs for a while.
  mutating func rest(at now: Moment) {
    guard phase == .serving, runs.isEmpty else { return }
    let end = now.time + spec.idleTime
    phase = .idle(until: end)
    effects.append(.wake(at: end))
  }

  private mutating func lease(until end: Int64) {
    guard leaseEnd != end else { return }
    leaseEnd = end
    // The present one may have runs of the lease that has ended.
    guard end > 0 else { return }
    switch phase {
    case .launching, .serving, .idle:
      toldLeaseEnd = end
      effects.append(.send(.lease(until: end)))
    case .none, .spawning, .stopping, .killed: break
    }
  }

  private mutating func suspendBudgets(_ isSuspended: Bool, at now: Moment) {
    guard !isClosing else { return }
    let hasChanged = self.isSuspended != isSuspended
    self.isSuspended = isSuspended
    if isSuspended, phase == .none { spawn() }
    guard hasChanged else { return }
    switch phase {
    case .launching, .serving, .idle: effects.append(.send(.suspendBudgets(isSuspended)))
    case .none, .spawning, .stopping, .killed: break
    }
    guard !isSuspended else { return }
    resumedAt = now.time
    for id in order {
      runs[id]?.beginAnew(at: now.time)
      wakeForEnd(of: id)
    }
    if case .idle = phase { phase = .serving }
    if case .launching = phase { phase = .launching(until: now.time + spec.launchBudget + Self.launchPatience) }
    effects += deadlines.map { .wake(at: $0.end) }
    rest(at: now)
  }

  /// Prepares a process for runs, and starts one if none exists.
  ///
  /// - Returns: Whether the process takes runs now.
  mutating func engage() -> Bool {
    switch phase {
    case .none:
      spawn()
      return false
    case .serving, .idle:
      phase = .serving
      return true
    case .spawning, .launching, .stopping, .killed: return false
    }
  }

  /// Asks the process to end.
  private mutating func stop(at now: Moment) {
    let end = now.time + Self.shutdownLimit + Self.launchPatience
    phase = .stopping(until: end)
    effects += [.wake(at: end), .send(.shutdown)]
  }

  private mutating func close(at now: Moment) {
    isClosing = true
    switch phase {
    case .launching: kill(.hostEnds)
    case .serving, .idle: stop(at: now)
    case .none, .spawning, .stopping, .killed: break
    }
  }

  /// Kills the process; the first reason counts.
  mutating func kill(_ reason: Killing) {
    switch phase {
    case .launching, .serving, .idle, .stopping:
      phase = .killed(reason)
      effects.append(.kill)
    case .none, .spawning, .killed: break
    }
  }

  /// Kills the process because of what it did.
  mutating func violate(_ what: String) { kill(.violation(what)) }

  /// Kills the process because one of its runs did not stop.
  mutating func kill(forcing run: RunID, reason: StopReason) {
    switch phase {
    case .serving: kill(.force([run: reason]))
    case .killed(.force(var forced)):
      forced[run] = reason
      phase = .killed(.force(forced))
    case .none, .spawning, .launching, .idle, .stopping, .killed: break
    }
  }

  private mutating func ended(
    _ end: WorkerEnd, _ mayHaveBegun: (RunID, _ since: UInt64) -> Bool, at now: Moment
  ) {
    guard var last = present else { return }
    tell(dropped: last.conduct.takeAllDropped(), at: now)
    settle(last, end, mayHaveBegun, at: now)
    present = nil
    phase = .none
    // No outcome: a launch was requested meanwhile.
    if isClosing { finishLaunch(.failure(Self.hostEnded)) } else if !runs.isEmpty || launchOutcome == nil { spawn() }
    effects.append(.rouse)
  }

  // MARK: Deadlines

  /// All current deadlines.
  var deadlines: [(Timeout, end: MonotonicTime)] {
    if isSuspended, !phase.isStopping { return [] }
    switch phase {
    case .none, .spawning, .killed: return []
    case .launching(let end): return [(.launch, end)]
    case .idle(let end): return [(.idle, end)]
    case .stopping(let end): return [(.shutdown, end)]
    case .serving:
      var all: [(Timeout, end: MonotonicTime)] = []
      if let since = present?.blockedSince { all.append((.reading, max(since, resumedAt ?? since) + Self.readLimit)) }
      for id in order {
        guard let entry = runs[id] else { continue }
        if let asked = entry.askedBack { all.append((.answer(id), max(asked, resumedAt ?? asked) + Self.answerLimit)) }
        if let force = entry.force { all.append((.run(id), force.end)) }
      }
      return all
    }
  }

  /// A deadline has passed.
  private mutating func runOut(_ timeout: Timeout, at now: Moment) {
    switch timeout {
    case .launch: kill(.launchOverdue)
    case .idle: stop(at: now)
    case .shutdown: kill(.shutdownOverdue)
    case .reading: violate("it does not read what it is sent")
    case .answer: violate("it does not say whether runs that it was asked for have begun")
    case .run(let run): if let entry = runs[run] { kill(forcing: run, reason: entry.reasonForForce) }
    }
  }
}
