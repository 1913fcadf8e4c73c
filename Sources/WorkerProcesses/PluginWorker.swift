import CTaskHostSystem
import Glibc
import HostThreads
public import TaskModel
import WorkerLink

/// One plugin's worker process over time: none, starting, serving, stopping, none again, as its runs need it.
///
/// Time is the host's: it counts each run's budget and grace itself and kills the process group when they are spent, whatever the worker
/// says or does not say.
public final class PluginWorker: @unchecked Sendable {  // reason: everything that changes is touched with `monitor` held
  /// What the workers of one host share.
  struct Surroundings: Sendable {
    let loop: WorkerEventLoop
    let spawner: WorkerSpawner
    let services: any WorkerServices
    /// nil: there are none.
    let cgroups: WorkerCgroups?
    /// Told what happens, on the loop's thread or a caller's; returns promptly.
    let sink: @Sendable (LauncherEvent) -> Void
  }

  /// What came of a launch.
  public struct Launch: Sendable {
    /// What it registered.
    public let registrations: [HandlerRegistration]
    /// What it submitted and cancelled, in order.
    public let changes: [LaunchChange]
    /// Whether it asked for its settings or its folder.
    public let askedForSettings: Bool
    /// Whether it asked which of its requests are pending.
    public let askedForRequests: Bool
    /// What the kernel could not do to confine it.
    public let missing: [String]
  }

  enum Phase {
    /// No process.
    case none
    /// The spawner has been asked for one.
    case spawning
    /// It loads and launches the plugin.
    case starting(WorkerProcess)
    /// It takes runs.
    case ready(WorkerProcess)
    /// It was asked to end.
    case stopping(WorkerProcess)
    /// It was killed, for a reason of the host's, and is not reaped yet.
    case killed(WorkerProcess, Killing)
  }

  /// Why the host killed a process.
  enum Killing {
    /// A run did not stop in its grace.
    case force([RunID: StopReason])
    /// It did what no worker does.
    case violation(String)
    /// It did not end when it was asked to.
    case overdue
  }

  /// What the plugin's workers are started with.
  public let spec: WorkerSpec
  let surroundings: Surroundings
  let policy: any LaunchPolicy
  let monitor = Monitor()

  // With `monitor` held.
  var phase = Phase.none
  var contracts: [TaskIdentifier: HandlerContract] = [:]
  /// What every process has to register; nil: the first has not launched yet.
  var expected: [HandlerRegistration]?
  var runs: [RunID: WorkerRun] = [:]
  /// Runs that expired and have ended: their submissions are taken until their grace is over.
  var graced: [RunID: (reference: RunReference, end: MonotonicTime)] = [:]
  /// The runs in the order they were given.
  var order: [RunID] = []
  /// How many runs of each identifier count as running.
  var begun: [TaskIdentifier: Int] = [:]
  /// Runs that were handed out ahead and have begun, which is to be told. Those whose begin counts are not among them: their worker tells.
  private var untold: [RunID] = []
  /// For which the host lacks something; it is told when it has it again.
  var isShort = false
  /// When the word of a process that it lacks something for runs of an identifier was last passed on.
  var shortageToldAt: [TaskIdentifier: MonotonicTime] = [:]
  var launchOutcome: Result<Launch, LaunchFailure>?
  var missing: [String] = []
  /// What the present process has said so far.
  var conduct = WorkerConduct(began: SystemClock.now)
  var askedForSettings = false
  var askedForRequests = false
  /// The first identifier that it registered, or tried to.
  var asked: TaskIdentifier?
  /// The identifiers that the present process asked for and may have.
  var admitted: Set<TaskIdentifier> = []
  var isClosing = false
  var startDeadline = MonotonicTime.distantFuture
  var idleDeadline = MonotonicTime.distantFuture
  var stopDeadline = MonotonicTime.distantFuture

  /// How long the end of a process may take beyond what it was given.
  static let shutdownLimit = Duration.seconds(5)
  /// How long the host waits for word of a launch beyond its budget, which the worker keeps itself: only a worker that is stopped is late.
  static let launchPatience = Duration.seconds(1)
  /// How long a worker may leave what it is sent unread.
  static let readLimit = Duration.seconds(10)
  /// More runs than that are not kept for their submissions.
  static let gracedLimit = 1024
  /// What a worker lacks for several runs at once is one shortage. Shorter than any wait before it is sent runs again.
  static let shortageInterval = Duration.milliseconds(500)
  /// How long a worker may take to say whether runs that it is asked for have begun.
  static let answerLimit = Duration.seconds(10)

  /// - Parameter policy: What the host decides while it launches.
  init(_ spec: WorkerSpec, policy: any LaunchPolicy, surroundings: Surroundings) {
    self.spec = spec
    self.policy = policy
    self.surroundings = surroundings
  }

  /// Starts a process and waits until the plugin has launched in it, or has not. On any thread but the loop's.
  public func launch() throws(LaunchFailure) -> Launch {
    monitor.lock()
    launchOutcome = nil
    if case .none = phase { begin() }
    while launchOutcome == nil { monitor.wait() }
    let outcome = launchOutcome
    monitor.unlock()
    guard let outcome else { throw LaunchFailure(step: .load, observed: "its launch was given up") }
    return try outcome.get()
  }

  /// What its processes have to register, where that is known without a launch, and the contracts that its runs are held to.
  public func adopt(_ registrations: [HandlerRegistration], contracts: [HandlerContract]) {
    let process = monitor.locked { () -> WorkerProcess? in
      expected = registrations
      self.contracts = Dictionary(contracts.map { ($0.identifier, $0) }) { first, _ in first }
      if case .ready(let process) = phase { return process } else { return nil }
    }
    process?.send(.contracts(contracts))
  }

  /// What of its limits and entitlements nothing enforces here, a sentence each, as its last process found; none before there was one.
  public var unenforced: [String] { monitor.locked { missing } }

  /// Who the plugin says it is, also where its launch failed after it had said so.
  public var claimedIdentifier: TaskIdentifier? { monitor.locked { asked } }

  /// The process it has now; nil: none.
  public var processID: Int32? {
    monitor.locked {
      switch phase {
      case .none, .spawning: nil
      case .starting(let process), .ready(let process), .stopping(let process), .killed(let process, _): process.processID
      }
    }
  }

  /// Lets the process go that has nothing to do: its shutdown hook is called, then it ends. The next run starts another.
  public func retire() {
    monitor.locked {
      guard runs.isEmpty, case .ready(let process) = phase else { return }
      stop(process)
    }
  }

  // MARK: Runs, on any thread

  func start(_ orders: [RunOrder]) {
    monitor.lock()
    for order in orders {
      runs[order.run] = WorkerRun(order: order)
      self.order.append(order.run)
    }
    idleDeadline = .distantFuture
    switch phase {
    case .none: begin()
    case .ready(let process): sendWaiting(to: process)
    case .spawning, .starting, .stopping, .killed: break
    }
    let events = begins()
    monitor.unlock()
    for event in events { surroundings.sink(event) }
  }

  func withdraw(_ ids: [RunID]) {
    var events: [LauncherEvent] = []
    monitor.locked {
      let now = SystemClock.now
      var asked: [RunID] = []
      for id in ids {
        guard let entry = runs[id], entry.askedBack == nil else { continue }
        if entry.began != nil {
          events.append(.began(id))
        } else if !entry.isSent {
          _ = remove(id, at: now)
          events.append(.withdrawn(id))
        } else {
          runs[id]?.askedBack = now
          asked.append(id)
        }
      }
      // One that ends meanwhile says by its end which of them had begun.
      guard !asked.isEmpty, case .ready(let process) = phase else { return }
      surroundings.loop.arm(self, at: now + Self.answerLimit)
      for start in stride(from: 0, to: asked.count, by: LinkFormat.batchCount) {
        let batch = Array(asked[start..<min(start + LinkFormat.batchCount, asked.count)])
        if !process.send(.withdraw(batch)) { return kill(process, violation: "what it is sent does not reach it") }
      }
    }
    for event in events { surroundings.sink(event) }
  }

  func expire(_ run: RunID, reason: StopReason) {
    var events: [LauncherEvent] = []
    monitor.locked {
      guard var entry = runs[run], entry.stop == nil else { return }
      guard entry.isSent, case .ready(let process) = phase else {
        if !entry.isSent { events = endUnsent([run], reason: reason) }
        return
      }
      entry.expire(reason, at: SystemClock.now)
      runs[run] = entry
      surroundings.loop.arm(self, at: entry.forceAt)
      process.send(.expire(run, reason))
    }
    for event in events { surroundings.sink(event) }
  }

  func force(_ run: RunID, reason: StopReason) {
    var events: [LauncherEvent] = []
    monitor.locked {
      guard let entry = runs[run] else { return }
      guard entry.isSent else {
        events = endUnsent([run], reason: reason)
        return
      }
      kill(forcing: run, reason: entry.stop ?? reason)
    }
    for event in events { surroundings.sink(event) }
  }

  /// Asks the process to end, for ever; whoever launched it last calls this when it is not to be used.
  public func close() {
    monitor.locked {
      isClosing = true
      switch phase {
      case .none, .killed, .stopping: break
      case .spawning: break
      case .starting(let process):
        phase = .killed(process, .overdue)
        process.kill()
      case .ready(let process): stop(process)
      }
    }
  }

  /// Waits for the end of the process; false: it has not come.
  func hasEnded(by deadline: MonotonicTime) -> Bool {
    monitor.locked {
      while true {
        if case .none = phase { return true }
        guard monitor.wait(until: deadline) else {
          if case .none = phase { return true }
          return false
        }
      }
    }
  }

  // MARK: With the lock held

  /// Has a process started.
  func begin() {
    phase = .spawning
    let number = IncidentNumbers.next()
    surroundings.spawner.perform { [self] in
      do throws(WorkerSpawn.Failure) {
        spawned(try WorkerProcess(spec, number: number, loop: surroundings.loop, cgroups: surroundings.cgroups, owner: self))
      } catch {
        spawnFailed(error)
      }
    }
  }

  /// Asks an idle process to end.
  func stop(_ process: WorkerProcess) {
    phase = .stopping(process)
    stopDeadline = SystemClock.now + Self.shutdownLimit + Self.launchPatience
    idleDeadline = .distantFuture
    surroundings.loop.arm(self, at: stopDeadline)
    process.send(.shutdown)
  }

  /// Kills the process because a run of it did not stop.
  func kill(forcing run: RunID, reason: StopReason) {
    switch phase {
    case .ready(let process):
      phase = .killed(process, .force([run: reason]))
      process.kill()
    case .killed(let process, .force(var forced)):
      forced[run] = reason
      phase = .killed(process, .force(forced))
    default: break
    }
  }

  /// Kills the process because of what it did.
  func kill(_ process: WorkerProcess, violation: String) {
    switch phase {
    case .starting(let current), .ready(let current), .stopping(let current):
      guard current === process else { return }
      phase = .killed(process, .violation(violation))
      process.kill()
    case .none, .spawning, .killed: break
    }
  }

  /// Sends what has not been sent, in order.
  func sendWaiting(to process: WorkerProcess) {
    let now = SystemClock.now
    var orders: [WireOrder] = []
    for id in order.reversed() {
      guard let entry = runs[id], !entry.isSent else { break }
      orders.append(entry.wireOrder)
    }
    guard !orders.isEmpty else { return }
    orders.reverse()
    conduct.noteSent(orders.count)
    let begunCount = process.begunCount
    for wire in orders { runs[wire.run]?.send(at: now, begunCount: begunCount) }
    for wire in orders { beginIfFree(wire.run, at: now) }
    for batch in HostMessage.batches(of: orders) where !process.send(.start(batch)) {
      return kill(process, violation: "what it is sent does not reach it")
    }
    if process.isBlockedSince != nil { surroundings.loop.arm(self, at: now + Self.readLimit) }
  }

  /// A run counts as running once its identifier has fewer running than its contract allows.
  func beginIfFree(_ run: RunID, at now: MonotonicTime) {
    guard let entry = runs[run], entry.began == nil, entry.askedBack == nil else { return }
    let contract = entry.order.contract
    guard begun[contract.identifier, default: 0] < contract.maxConcurrentRuns else { return }
    begin(run, at: now)
  }

  /// A run that has been sent has begun.
  func begin(_ run: RunID, at now: MonotonicTime) {
    guard var entry = runs[run], entry.isSent, entry.began == nil else { return }
    begun[entry.order.contract.identifier, default: 0] += 1
    entry.askedBack = nil
    entry.begin(at: now)
    runs[run] = entry
    if entry.order.isAhead, !entry.order.tellsBegin { untold.append(run) }
    if entry.forceAt != .distantFuture { surroundings.loop.arm(self, at: entry.forceAt) }
  }

  /// What is to be told of begins; those of runs that have ended since are told by their ends.
  func begins() -> [LauncherEvent] {
    guard !untold.isEmpty else { return [] }
    defer { untold.removeAll(keepingCapacity: true) }
    return untold.compactMap { runs[$0] == nil ? nil : .began($0) }
  }

  /// Takes a run out; the next that waits behind it counts as running.
  func remove(_ run: RunID, at now: MonotonicTime) -> WorkerRun? {
    guard let entry = runs.removeValue(forKey: run) else { return nil }
    if let position = order.firstIndex(of: run) { order.remove(at: position) }
    guard entry.began != nil else { return entry }
    let identifier = entry.order.contract.identifier
    begun[identifier] = max(0, begun[identifier, default: 1] - 1)
    if runs.count > (begun[identifier] ?? 0),
      let next = order.first(where: {
        runs[$0].map { $0.isSent && $0.began == nil && $0.askedBack == nil && $0.order.contract.identifier == identifier } ?? false
      }
      )
    {
      beginIfFree(next, at: now)
    }
    return entry
  }

  /// Ends runs that no process has been sent: nothing of them has run.
  func endUnsent(_ ids: [RunID], reason: StopReason) -> [LauncherEvent] {
    let now = SystemClock.now
    return ids.compactMap { id in
      guard let entry = remove(id, at: now) else { return nil }
      var report = RunReport()
      report.stopReason = reason
      return .ended(entry.order.run, .returned(.retry, stop: reason), report)
    }
  }
}

/// Numbers the processes of this host, so that what one mishap ended is told from what another did.
enum IncidentNumbers {
  private static let state = State()

  private final class State: @unchecked Sendable {  // reason: touched with its monitor held
    let monitor = Monitor()
    var last: UInt64 = 0
  }

  static func next() -> UInt64 {
    state.monitor.locked {
      state.last += 1
      return state.last
    }
  }
}
