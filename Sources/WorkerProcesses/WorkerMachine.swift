import TaskModel
import WorkerLink

/// One plugin's worker process over time, as a value: what happens goes in as an event, what is to be done comes out as effects.
///
/// It reads no clock and reaches nothing outside of itself. ``PluginWorker`` keeps it inside a lock and carries its effects out.
struct WorkerMachine: Sendable {
  /// Where the process is in its life.
  enum Phase: Hashable {
    /// There is no process.
    case none
    /// The spawner was asked for one.
    case spawning
    /// It loads and launches the plugin.
    case launching(until: MonotonicTime)
    /// It has runs.
    case serving
    /// It has launched and has no run.
    case idle(until: MonotonicTime)
    /// It was asked to end.
    case stopping(until: MonotonicTime)
    /// It was killed and is not reaped yet.
    case killed(Killing)
  }

  /// Why the host killed a process.
  enum Killing: Hashable {
    /// It did not say in time whether its plugin has launched.
    case launchOverdue
    /// The host ends while it launches.
    case hostEnds
    /// Its launch failed, which has been told.
    case launchFailed
    /// Runs did not stop in their grace.
    case force([RunID: StopReason])
    /// It did what no worker does: a clause whose subject is the worker.
    case violation(String)
    /// It did not end in time when it was asked to.
    case shutdownOverdue
  }

  /// What happens.
  enum Event: Sendable {
    // The host's commands.

    /// Somebody waits for a launch.
    case launch
    /// What every process has to register, and the contracts that its runs are held to.
    case adopt([HandlerRegistration], [HandlerContract])
    case start([RunOrder])
    case withdraw([RunID])
    case expire(RunID, StopReason)
    case force(RunID, StopReason)
    /// A process that has no run is to end.
    case retire
    /// The process is to end, and no other is started for runs that are left.
    case close

    // What comes of effects.

    /// A process was started; `WorkerConduct` is that of a process that has said nothing.
    case spawned(incident: UInt64, WorkerConduct)
    case spawnFailed(observed: String, ShortageCause)
    /// A message was not taken: far too much waits for the process, or the system would not send it.
    case sendFailed(HostMessage)
    /// Messages wait because the process has not read since then.
    case blocked(since: MonotonicTime)
    /// The host's policy lets the plugin have the identifier.
    case admitted(TaskIdentifier)
    /// A deadline may have come. `blockedSince` is nil if no message waits.
    case woken(blockedSince: MonotonicTime?)

    // What the process does.

    case received(WorkerMessage)
    /// It wrote a line to its standard output or error.
    case wrote(LogLine)
    /// It did what no worker does, as was seen outside of its messages.
    case violated(String)
    /// It has ended and is reaped. `mayHaveBegun` says whether a run may have begun that was sent when so many had begun in it.
    case ended(WorkerEnd, mayHaveBegun: @Sendable (RunID, _ since: UInt64) -> Bool)
  }

  /// What is to be done, in this order. The first five are done before the next event; the order of what is sent depends on it.
  enum Effect: Sendable {
    /// Have a process started: ``Event/spawned(incident:_:)`` or ``Event/spawnFailed(observed:_:)`` follows.
    case spawn
    /// Tell the new process what it is to load.
    case boot
    case send(HostMessage)
    /// Kill the process group: ``Event/ended(_:mayHaveBegun:)`` follows.
    case kill
    /// Say ``Event/woken(blockedSince:)`` at that time at the latest.
    case wake(at: MonotonicTime)
    case tell(LauncherEvent)
    /// A line that no launched plugin is known for yet.
    case log(LogLine)
    case answer(WorkerCall, number: UInt64, Answering)
    /// The outcome of a launch, or the end of the process, is there for whoever waits for it.
    case rouse
  }

  /// How a call of the process is answered.
  enum Answering: Sendable {
    case refuse(CallFailure)
    /// By the policy of the launch.
    case askPolicy
    /// By the host's services.
    case serve(RunReference)
  }

  /// What is waited for, no longer than until its deadline.
  enum Timeout: Hashable {
    /// The word that the plugin has launched.
    case launch
    /// A run for an idle process.
    case idle
    /// The end of a process that was asked for it.
    case shutdown
    /// That the process reads what it is sent.
    case reading
    /// The word whether a run that was asked back has begun.
    case answer(RunID)
    /// The end of a run: its budget, its grace and some patience.
    case run(RunID)
  }

  /// What is known of the process there is.
  struct Present: Sendable {
    /// The number of what happens to it.
    let incident: UInt64
    var conduct: WorkerConduct
    /// The identifiers that it asked for and may have.
    var admitted: Set<TaskIdentifier> = []
    /// Since when it has not read what waits for it; nil: nothing waits.
    var blockedSince: MonotonicTime?
  }

  let spec: WorkerSpec
  private(set) var phase = Phase.none
  /// nil: none.
  var present: Present?
  var contracts: [TaskIdentifier: HandlerContract] = [:]
  /// What every process has to register; nil: the first has not launched yet.
  var expected: [HandlerRegistration]?
  var runs: [RunID: WorkerRun] = [:]
  /// The runs in the order they were given.
  var order: [RunID] = []
  /// How many runs of each identifier count as running.
  var begun: [TaskIdentifier: Int] = [:]
  /// Runs that were handed out ahead and have begun, which is to be told. Those whose begin counts are not among them: their worker tells.
  var untold: [RunID] = []
  /// Runs that expired and have ended: their submissions are taken until their grace is over.
  var graced: [RunID: (reference: RunReference, end: MonotonicTime)] = [:]
  /// The host lacks something; it is told when it has it again.
  var isShort = false
  /// When the word of a process that it lacks something for runs of an identifier was last passed on.
  var shortageToldAt: [TaskIdentifier: MonotonicTime] = [:]
  var launchOutcome: Result<PluginWorker.Launch, LaunchFailure>?
  /// What nothing enforces on its last process, a sentence each.
  var missing: [String] = []
  var askedForSettings = false
  var askedForRequests = false
  /// The first identifier that it registered, or tried to.
  var asked: TaskIdentifier?
  private(set) var isClosing = false
  /// What is to be done for the event that is being handled.
  var effects: [Effect] = []

  /// How long the end of a process may take beyond what it was given.
  static let shutdownLimit = Duration.seconds(5)
  /// How long the host waits for word of a launch beyond its budget, which the worker keeps itself: only a worker that is stopped is late.
  static let launchPatience = Duration.seconds(1)
  /// How long a worker may leave what it is sent unread.
  static let readLimit = Duration.seconds(10)
  /// How long a worker may take to say whether runs that it is asked for have begun.
  static let answerLimit = Duration.seconds(10)

  init(_ spec: WorkerSpec) { self.spec = spec }

  /// Takes note of what happens, and says what is to be done. What cannot happen in a phase is left alone.
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
    case .close: close(at: now)
    case .spawned(let incident, let conduct): spawned(Present(incident: incident, conduct: conduct), at: now)
    case .spawnFailed(let observed, let cause):
      guard phase == .spawning else { break }
      phase = .none
      fail(LaunchFailure(step: .load, observed: observed), lacking: cause, at: now)
      effects.append(.rouse)
    case .sendFailed(.start), .sendFailed(.withdraw), .sendFailed(.answer): violate("what it is sent does not reach it")
    // Its runs and its end have deadlines.
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
    // Which runs of a killed process had begun, its end says.
    if case .killed = phase {} else { tellBegins() }
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
    if isClosing { kill(.hostEnds) }
  }

  /// Its plugin has launched.
  mutating func serve(at now: Moment) {
    phase = .serving
    if !contracts.isEmpty { effects.append(.send(.contracts(Array(contracts.values)))) }
    sendWaiting(at: now)
    rest(at: now)
  }

  /// A process without runs is kept for a while.
  mutating func rest(at now: Moment) {
    guard phase == .serving, runs.isEmpty else { return }
    let end = now.time + spec.idleTime
    phase = .idle(until: end)
    effects.append(.wake(at: end))
  }

  /// There are runs for it again, if it has launched.
  ///
  /// - Returns: Whether it takes them.
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

  /// Kills the process; what it is killed for first counts.
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

  /// Kills the process because a run of it did not stop.
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
    // Without an outcome, somebody has asked for a launch meanwhile.
    if isClosing { finishLaunch(.failure(Self.hostEnded)) } else if !runs.isEmpty || launchOutcome == nil { spawn() }
    effects.append(.rouse)
  }

  // MARK: Deadlines

  /// What is waited for, and until when.
  var deadlines: [(Timeout, end: MonotonicTime)] {
    switch phase {
    case .none, .spawning, .killed: return []
    case .launching(let end): return [(.launch, end)]
    case .idle(let end): return [(.idle, end)]
    case .stopping(let end): return [(.shutdown, end)]
    case .serving:
      var all: [(Timeout, end: MonotonicTime)] = []
      if let since = present?.blockedSince { all.append((.reading, since + Self.readLimit)) }
      for id in order {
        guard let entry = runs[id] else { continue }
        if let asked = entry.askedBack { all.append((.answer(id), asked + Self.answerLimit)) }
        if let force = entry.force { all.append((.run(id), force.end)) }
      }
      return all
    }
  }

  /// What was waited for has not come in time.
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
