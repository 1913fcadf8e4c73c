import HostThreads
import TaskModel
import WorkerLink

@testable import WorkerProcesses

/// A worker's machine that things happen to, one after the other, and what it had done for them.
struct MachineWalk: Sendable {
  static let identifier = HandlerContract.scripted.identifier
  static let registration = HandlerRegistration(identifier: identifier, kind: .processing, maxConcurrentRuns: 2)

  private(set) var machine: WorkerMachine
  var contract: HandlerContract
  /// Later than the allowances of a conduct begin, which read the machine's clock.
  private let begin = SystemClock.now + .seconds(3600)
  /// How long the walk has lasted.
  private(set) var time = Duration.zero
  /// The run that each new order is for.
  private var given: Int64 = 0

  /// A plugin that may have two runs at once, with a grace of 5 s, a launch budget of 30 s and an idle time of 20 s.
  init(budget: Duration? = nil, concurrent: Int = 2) {
    machine = WorkerMachine(
      WorkerSpec(
        executable: "/nonexistent", name: "walked", confinement: Confinement(plugin: "/nonexistent"), identifier: Self.identifier,
        launchBudget: .seconds(30), idleTime: .seconds(20)))
    contract = HandlerContract(
      identifier: Self.identifier, kind: .processing, budget: budget, grace: .seconds(5), maxConcurrentRuns: concurrent)
  }

  static func run(_ number: Int64) -> RunID { RunID(sequence: number, origin: 7) }

  mutating func order(isAhead: Bool = true, tellsBegin: Bool = false) -> RunOrder {
    given += 1
    return RunOrder(
      run: Self.run(given), request: RequestID(sequence: given, origin: 8), contract: contract, attempt: 1, payload: [],
      isAhead: isAhead, tellsBegin: tellsBegin)
  }

  // MARK: What happens

  /// What is done for an event, a word or two for each effect.
  @discardableResult mutating func handle(_ event: WorkerMachine.Event) -> [String] {
    machine.handle(event, at: Moment(time: begin + time, calendar: WallTime(unixMilliseconds: 0) + time)).map { Self.words(of: $0) }
  }

  @discardableResult mutating func says(_ message: WorkerMessage) -> [String] { handle(.received(message)) }

  /// A run has ended, says the worker.
  @discardableResult mutating func endsRun(_ number: Int64, stop: StopReason? = nil) -> [String] {
    var report = RunReport()
    report.stopReason = stop
    return says(.ended([WireEnding(run: Self.run(number), ending: .returned(.success, stop: stop), report: report)]))
  }

  mutating func pass(_ duration: Duration) { time += duration }

  /// Time passes, and the machine is woken.
  mutating func sleep(_ duration: Duration, blockedSince: Duration? = nil) -> [String] {
    pass(duration)
    return handle(.woken(blockedSince: blockedSince.map { begin + $0 }))
  }

  mutating func blocks() -> [String] { handle(.blocked(since: begin + time)) }

  mutating func spawn() -> [String] { handle(.spawned(incident: 3, WorkerConduct(began: begin + time))) }

  /// The process has ended; the runs in `begun` had begun in it.
  mutating func dies(_ end: WorkerEnd = .exit(0), begun: Set<Int64> = []) -> [String] {
    handle(.ended(end) { run, _ in begun.contains(run.sequence) })
  }

  /// Its plugin launches in a new process.
  mutating func launch() {
    handle(.launch)
    _ = spawn()
    says(.confined(missing: []))
    handle(.admitted(Self.identifier))
    says(.launched(LaunchReport(registrations: [Self.registration])))
    handle(.adopt([Self.registration], [contract]))
  }

  // MARK: What it is like

  var phase: String { Self.name(of: machine.phase) }

  /// What is waited for, and when that is over.
  var deadlines: [String] { machine.deadlines.map { "\($0): \(($1 - begin).wholeMilliseconds) ms" } }

  static func name(of phase: WorkerMachine.Phase) -> String {
    switch phase {
    case .none: "none"
    case .spawning: "spawning"
    case .launching: "launching"
    case .serving: "serving"
    case .idle: "idle"
    case .stopping: "stopping"
    case .killed(.force): "killed(force)"
    case .killed(.violation): "killed(violation)"
    case .killed(let reason): "killed(\(reason))"
    }
  }

  private static func words(of effect: WorkerMachine.Effect) -> String {
    switch effect {
    case .spawn: "spawn"
    case .boot: "boot"
    case .send(let message): "send \(name(of: message))"
    case .kill: "kill"
    case .wake: "wake"
    case .tell(let event): words(of: event)
    case .log: "log"
    case .answer(_, _, .refuse(let failure)): "refuse: \(failure.status)"
    case .answer(_, _, .askPolicy): "ask policy"
    case .answer(_, _, .serve(let run)): "serve \(run.run.sequence)"
    case .rouse: "rouse"
    }
  }

  private static func name(of message: HostMessage) -> String {
    switch message {
    case .boot: "boot"
    case .contracts: "contracts"
    case .start(let orders): "start \(list(orders.map(\.run)))"
    case .expire(let run, let reason): "expire \(run.sequence) \(reason)"
    case .withdraw(let runs): "withdraw \(list(runs))"
    case .answer: "answer"
    case .lease(let end): "lease \(end)"
    case .suspendBudgets(let isSuspended): isSuspended ? "suspend" : "resume"
    case .shutdown: "shutdown"
    }
  }

  private static func list(_ runs: [RunID]) -> String { runs.map { "\($0.sequence)" }.joined(separator: "+") }

  private static func words(of event: LauncherEvent) -> String {
    switch event {
    case .began(let run): "began \(run.sequence)"
    case .ended(let run, let ending, let report): "ended \(run.sequence) \(name(of: ending))" + (report.message.map { ": \($0)" } ?? "")
    case .withdrawn(let run): "withdrawn \(run.sequence)"
    case .shortage(_, let sentence, let cause): "shortage of \(cause): \(sentence)"
    case .relieved: "relieved"
    case .expired(let run, let reason): "expired \(run.run.sequence) \(reason)"
    case .progress(let run, _): "progress \(run.run.sequence)"
    case .work(let run, _): "work \(run.run.sequence)"
    case .log(let run, _): "log \(run.run.sequence)"
    case .stuck(let run, _, _): "stuck \(run.run.sequence)"
    case .output: "output"
    case .misbehaved(_, let sentence, let incident): "misbehaved (\(incident)): \(sentence)"
    case .suspended: "suspended"
    case .resumed: "resumed"
    }
  }

  private static func name(of ending: RunEnding) -> String {
    switch ending {
    case .returned(let result, let stop): "\(result)" + (stop.map { " \($0)" } ?? "")
    case .forced(let reason): "forced \(reason)"
    case .crashed: "crashed"
    case .lost: "lost"
    }
  }
}

extension WorkerEnd {
  static func exit(_ status: Int32) -> WorkerEnd { WorkerEnd(status: status, cpuTime: .zero, peakMemory: nil, crash: nil) }

  /// It crashed in the run.
  static func crash(in run: RunID) -> WorkerEnd {
    WorkerEnd(status: -11, cpuTime: .zero, peakMemory: nil, crash: CrashReport(run: run, observed: "crashed: SIGSEGV", stack: ""))
  }
}
