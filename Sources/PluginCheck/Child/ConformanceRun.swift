import HostThreads
import PluginRuntime
import TaskModel
import TypedCalls

/// Plays a case: runs the plugin in the real runtime, with a host that acts as the case demands.
final class ConformanceRun {
  enum End: Error {
    /// The case does not apply, for this reason.
    case skipped(String)
    /// The reason has been reported.
    case told
  }

  struct Plan {
    var payload: [UInt8]
    var budget: Duration
    var attempt = 1
    var request: RequestID?
  }

  let order: CaseOrder
  let reporter: CaseReporter
  let services: ScriptedServices
  let policy: ScriptedPolicy
  let ledger: RunLedger
  var random: SeededRandom
  var tally = RunTally()
  private let launcher: ThreadLauncher
  private let onMainQueue: (MainQueueServer) -> Void
  private var contract: HandlerContract?
  /// The signature of a typed handler.
  private var signature: TypedSignature?
  private var sequences = RecordIDGenerator(after: 0)
  /// The state of the process before the plugin was loaded.
  private let marks: ProcessMarks
  /// The threads before the plugin was loaded.
  let threadsBefore: Set<Int32>
  private(set) var plugin: LaunchedPlugin?

  /// The host's default launch budget.
  static let launchBudget = Duration.seconds(5)
  /// The budget of each run in a case with many runs.
  static let shortBudget = Duration.milliseconds(200)
  /// How long a case repeats runs.
  static let patience = Duration.seconds(2)

  /// - Parameter onMainQueue: Gets the server of the plugin's main queue once the plugin is loaded.
  init(_ order: CaseOrder, _ reporter: CaseReporter, onMainQueue: @escaping (MainQueueServer) -> Void) throws(HostThread.Failure) {
    self.order = order
    self.reporter = reporter
    self.onMainQueue = onMainQueue
    services = ScriptedServices(besides: order.dataDirectory)
    policy = ScriptedPolicy(settings: order.settings, dataDirectory: order.dataDirectory)
    random = SeededRandom(seed: order.seed, for: order.tried.rawValue)
    let ledger = RunLedger { thread, stack in
      reporter.breach(
        "the handler had not returned when its grace was over", HeaderRules.grace,
        detail: stack.isEmpty ? "in thread \(thread), whose stack could not be read" : "in thread \(thread):\n\(stack)")
      CaseProcess.leave()
    }
    self.ledger = ledger
    launcher = try ThreadLauncher(services: services, role: .worker) { event in
      // The event arrives on the handler's thread.
      if case .ended = event { CallWatch.shared.noteHandlerThread() }
      // The run never ends.
      if case .shortage(_, let sentence, _) = event {
        reporter.breach("a run could not begin: \(sentence)", HeaderRules.leak)
        CaseProcess.leave()
      }
      ledger.hear(event)
    }
    threadsBefore = ThreadList.numbers()
    marks = ProcessMarks()
    CallWatch.shared.watch(marks)
  }

  // MARK: Launch

  /// Loads the file and launches it once, without reporting.
  func launchOnce() throws(LaunchFailure) -> LaunchedPlugin {
    CallWatch.shared.beganLaunch()
    defer { CallWatch.shared.endedLaunch() }
    let plugin = try PluginImage.launch(
      LaunchOrder(
        path: order.file, identifier: order.adoption?.identifier, adoption: order.adoption, handlerLimit: order.handlerLimit,
        policy: policy), budget: Self.launchBudget)
    if self.plugin == nil, let queue = plugin.mainQueue { onMainQueue(queue) }
    self.plugin = plugin
    return plugin
  }

  /// Launches, reports failures, and prepares the handler for runs.
  ///
  /// - Parameter concurrency: The host's limit of concurrent runs; nil means the plugin's own limit.
  @discardableResult func launch(concurrency: Int? = 1) throws(End) -> LaunchedPlugin {
    reporter.at("launching")
    let plugin: LaunchedPlugin
    do throws(LaunchFailure) { plugin = try launchOnce() } catch {
      reporter.breach("the plugin did not launch: \(error.observed)", HeaderRules.launch, detail: launchStack(error))
      throw .told
    }
    checkMarks(after: "the launch")
    let wanted = order.identifier
    guard let registered = plugin.handlers.map(\.registered).first(where: { wanted.isEmpty || $0.identifier.rawValue == wanted }) else {
      reporter.breach("the plugin did not register \(wanted) this time", HeaderRules.launchSame)
      throw .told
    }
    let contract = HandlerContract(
      identifier: registered.identifier, kind: registered.kind, budget: Self.shortBudget, grace: grace(of: registered),
      maxConcurrentRuns: concurrency ?? registered.maxConcurrentRuns, displayName: registered.displayName, version: registered.version,
      typed: registered.typed)
    self.contract = contract
    signature = registered.typed.flatMap { try? TypedSignature($0.signature) }
    try checkValidPayload()
    launcher.add(plugin, contracts: [contract])
    return plugin
  }

  /// Skips the case if the payload does not fit the signature of a typed handler.
  private func checkValidPayload() throws(End) {
    guard let signature else { return }
    do throws(TypedPayloadError) { _ = try TypedArguments(payload: order.payload, of: signature) } catch {
      throw .skipped("the payload does not fit the handler's signature: \(error): give one with --payload")
    }
  }

  /// The stack of a launch that hangs; empty if it failed otherwise.
  func launchStack(_ failure: LaunchFailure) -> String {
    guard failure.step == .timeout, let thread = ThreadList.numbers().first(where: { ThreadList.name(of: $0) == "launch" }) else {
      return ""
    }
    return ThreadList.stack(of: thread)
  }

  private func grace(of registered: HandlerRegistration) -> Duration {
    order.grace > 0 ? .milliseconds(order.grace) : registered.kind.defaultGrace
  }

  /// Of the handler that is run; nil before the launch.
  var identifier: TaskIdentifier? { contract?.identifier }

  /// How long the handler may take from expiration to return.
  var grace: Duration { contract?.grace ?? .zero }

  /// The number of runs that the plugin allows at once.
  var concurrency: Int { contract?.maxConcurrentRuns ?? 1 }

  // MARK: Runs

  func plan(budget: Duration = ConformanceRun.shortBudget) -> Plan { Plan(payload: order.payload, budget: budget) }

  func newRequest() -> RequestID { RequestID(sequence: sequences.next(at: SystemClock().wallTime), origin: 1) }

  /// Starts runs together. Skips runs of a typed handler whose payload does not fit its signature, because a host would refuse the
  /// submission.
  func start(_ plans: [Plan]) -> [RunID] {
    guard var contract else { return [] }
    let orders = plans.compactMap { plan -> RunOrder? in
      contract.budget = plan.budget
      var arguments: [UInt8]?
      if let signature {
        guard let fitting = try? TypedArguments(payload: plan.payload, of: signature) else {
          tally.addRefused()
          return nil
        }
        arguments = fitting.packed(for: signature)
      }
      return RunOrder(
        run: RunID(sequence: sequences.next(at: SystemClock().wallTime), origin: 1), request: plan.request ?? newRequest(),
        contract: contract, attempt: plan.attempt, payload: plan.payload, arguments: arguments)
    }
    ledger.willStart(orders.map(\.run))
    launcher.start(orders)
    return orders.map(\.run)
  }

  func expire(_ run: RunID, _ reason: StopReason) {
    ledger.willExpire(run)
    launcher.expire(run, reason: reason)
  }

  /// Waits for a run's end and judges it.
  @discardableResult func finish(_ run: RunID) -> RunLedger.Ended {
    let end = ledger.wait(for: run)
    tally.add(end)
    if case .returned(.outOfRange(let value), _) = end.ending {
      reporter.breach("the handler returned \(value)", HeaderRules.result)
    }
    return end
  }

  /// Performs a run from beginning to end; nil if a host would refuse its payload.
  @discardableResult func perform(_ plan: Plan) -> RunLedger.Ended? {
    guard let run = start([plan]).first else { return nil }
    defer {
      checkMarks(after: "the run")
      checkReturns()
    }
    return finish(run)
  }

  /// Performs one plan after the other until ``patience`` is over.
  func performAll(_ plans: some Sequence<Plan>, called name: String) {
    let end = SystemClock.now + Self.patience
    for (number, plan) in plans.enumerated() {
      reporter.at("\(name) \(number + 1)")
      perform(plan)
      if SystemClock.now >= end { break }
    }
  }

  /// How long a run with the valid payload takes, up to a second.
  func typicalTime() -> Duration {
    reporter.at("the first run")
    return perform(plan(budget: .seconds(1)))?.report.handlerTime ?? .milliseconds(1)
  }

  /// Checks that all handlers have returned. Call it after all runs have ended.
  func checkReturns() {
    guard CallWatch.shared.unreturned > 0 else { return }
    reporter.breach("the handler ended its thread instead of returning", HeaderRules.threadExit)
  }

  func checkMarks(after what: String) { ProcessMarks().compare(with: marks, after: what, reporter) }

  // MARK: The end

  func shutDown() {
    reporter.at("shutting down")
    let left = launcher.shutdown()
    if left > 0 {
      let thread = ThreadList.numbers().first { ThreadList.name(of: $0) == "shutdown" }
      reporter.breach(
        "taskhost_plugin_shutdown did not return in 5 s", HeaderRules.shutdown, detail: thread.map { ThreadList.stack(of: $0) } ?? "")
    }
    checkMarks(after: "the shutdown")
  }
}

enum Pause {
  static func wait(_ duration: Duration) {
    let monitor = Monitor()
    let end = SystemClock.now + duration
    monitor.locked { while SystemClock.now < end { monitor.wait(until: end) } }
  }
}
