import HostThreads
import OpenFiles
import RecordJSON
import Synchronization
import TaskModel
import TaskScheduler
import WorkerLink
import WorkerProcesses

/// Serves the calls of runs: state, checkpoints, submissions to permitted identifiers, and the plugin's own requests.
///
/// One entry for both kinds of callers: worker processes, which send messages, and threads of the host, which block.
final class PluginServices: WorkerServices {
  private let store: any RequestStore
  private let clock: any HostClock
  private let rules: RulesInForce
  private let desk = OpenFileDesk()
  private let scheduler: Scheduler
  private let assertions: AssertionKeeper
  /// Questions about requests and runs: a forecast takes up to a quarter of a second of a processor, and a fleet's database may take long.
  private let questions = JobDesk<TaskIdentifier>("questions", mostWaiting: 256, mostOfOne: 32)
  /// Follows the paths that plugins ask about.
  private let places = JobDesk<TaskIdentifier>("places", mostWaiting: 256, mostOfOne: 32)
  /// Cancellations of all that is pending in a fleet, which take some commits for each thousand requests.
  private let cancellations = JobDesk<TaskIdentifier>("cancellations", mostWaiting: 64, mostOfOne: 4)
  /// How much waits for the fleet's database of what each plugin has called for: what all plugins and clients want there waits in one line.
  private let fleetCalls = Mutex<[TaskIdentifier: Int]>([:])
  private static let mostFleetCalls = 1024

  private struct Surroundings {
    /// For each identifier, all identifiers of its plugin.
    var siblings: [TaskIdentifier: [TaskIdentifier]] = [:]
    /// Nil until the host has launched.
    var sources: Sources?

    mutating func add(_ plugins: [[TaskIdentifier]]) {
      for plugin in plugins { for identifier in plugin { siblings[identifier] = plugin } }
    }
  }

  /// What requests and questions are answered from.
  fileprivate struct Sources {
    let view: RequestView
    let explainer: RequestExplainer
    /// Reads the conditions of the machine. May block.
    let conditions: @Sendable () -> ConditionReport
  }

  private let surroundings = Mutex(Surroundings())

  /// - Parameters:
  ///   - rules: What plugins may do.
  ///   - assertions: Keeps the execution assertions of runs.
  init(
    _ scheduler: Scheduler, store: any RequestStore, clock: any HostClock, rules: RulesInForce, assertions: AssertionKeeper
  ) {
    self.scheduler = scheduler
    self.assertions = assertions
    self.rules = rules
    self.store = store
    self.clock = clock
  }

  /// Begins to serve launched plugins, each given as the identifiers it registered.
  ///
  /// - Parameters:
  ///   - view: Has all requests, those of the host's fleet too.
  ///   - explainer: Says why requests are not running.
  ///   - conditions: Reads the conditions of the machine. May block.
  func begin(
    _ plugins: [[TaskIdentifier]], _ view: RequestView, _ explainer: RequestExplainer, conditions: @escaping @Sendable () -> ConditionReport
  ) {
    surroundings.withLock { surroundings in
      surroundings.sources = Sources(view: view, explainer: explainer, conditions: conditions)
      surroundings.add(plugins)
    }
  }

  /// Serves these plugins too. Of others, runs may still be live.
  func add(_ plugins: [[TaskIdentifier]]) { surroundings.withLock { $0.add(plugins) } }

  var wallTime: WallTime { clock.wallTime }

  /// Serves a call. The answer comes on any thread once its effect is durable. Blocks only to read from the store.
  func serve(_ call: WorkerCall, for run: RunReference, completion: @escaping @Sendable (CallAnswer) -> Void) {
    let (siblings, sources) = surroundings.withLock { ($0.siblings[run.identifier], $0.sources) }
    let own = siblings ?? [run.identifier]
    let plugin = own.first ?? run.identifier
    let weight = sources.flatMap { call.weight(in: $0.view) } ?? 0
    guard count(weight, of: plugin) else {
      let why = "too many of the plugin's calls wait for the fleet's database: try again later"
      return completion(.failure(CallFailure(.unavailable, why)))
    }
    let done: @Sendable (CallAnswer) -> Void = { [self] in
      _ = count(-weight, of: plugin)
      completion($0)
    }
    let answer: @Sendable () -> Void = { [self] in
      do throws(CallFailure) { try begin(call, run, own, sources, done) } catch { done(.failure(error)) }
    }
    guard let sources, call.takesLong(of: own, in: sources.view) else { return answer() }
    let status: CallFailure.Status = call.isQuestion ? .limit : .unavailable
    let tooMany = CallFailure(status, "too many questions wait for an answer: ask again later")
    Self.queue(at: call.asksForPlaces ? places : questions, for: plugin, or: tooMany, done) {
      let began = SystemClock.now
      answer()
      // Plugins get at most half of a processor for their questions, and of a connection to the fleet's database.
      return call.isForecast || sources.view.fleet != nil && !call.asksForPlaces ? SystemClock.now - began : .zero
    }
  }

  /// Counts a call of a plugin that goes to the fleet's database, or the end of one, whose weight is negative. Returns whether that is not too
  /// much.
  private func count(_ weight: Int, of plugin: TaskIdentifier) -> Bool {
    guard weight != 0 else { return true }
    return fleetCalls.withLock { calls in
      let sum = (calls[plugin] ?? 0) + weight
      guard sum <= Self.mostFleetCalls else { return false }
      calls[plugin] = sum > 0 ? sum : nil
      return true
    }
  }

  /// Lets work wait for its turn at a desk. If it cannot, or too much waits there, the call fails.
  private static func queue(
    at desk: JobDesk<TaskIdentifier>, for plugin: TaskIdentifier, or tooMany: CallFailure,
    _ completion: @escaping @Sendable (CallAnswer) -> Void, work: @escaping @Sendable () -> Duration
  ) {
    let isTaken = desk.take(from: plugin, work: work) { completion(.failure(CallFailure(.unavailable, $0.description))) }
    if !isTaken { completion(.failure(tooMany)) }
  }

  /// - Parameters:
  ///   - own: All identifiers of the plugin that calls.
  ///   - sources: Nil until the host has launched.
  private func begin(
    _ call: WorkerCall, _ run: RunReference, _ own: [TaskIdentifier], _ sources: Sources?,
    _ completion: @escaping @Sendable (CallAnswer) -> Void
  ) throws(CallFailure) {
    let plugin = own.first ?? run.identifier
    let rules = rules.current
    switch call {
    case .state(_, let key): completion(.bytes(try reading { () throws(StoreError) in try store.stateValue(key, of: run.identifier) }))
    case .checkpoint: completion(.bytes(try reading { () throws(StoreError) in try store.checkpoint(of: run.request) }))
    case .setState(_, let key, let value):
      scheduler.setState(key, to: value, run: run.run, request: run.request, identifier: run.identifier) { completion(CallAnswer($0)) }
    case .setCheckpoint(_, let value):
      scheduler.setCheckpoint(value, run: run.run, request: run.request) { completion(CallAnswer($0)) }
    case .submit(_, let request):
      let view = try sources.ready.view
      try rules.submissions.check(request, from: run.identifier, own: own) { (id) throws(CallFailure) in
        try reading { () throws(StoreError) in try view.request(id) }?.request.identifier
      }
      let done: @Sendable (Result<Submission, RequestRefusal>) -> Void = { completion(CallAnswer($0.map { .submission($0) })) }
      guard let fleet = view.fleet, view.shares([request.identifier]) else {
        return scheduler.perform(.submit(request, by: plugin).onBehalf(of: run), completion: done)
      }
      fleet.agent.submit(request, from: run, by: plugin, completion: done)
    case .cancel(_, let request):
      let view = try sources.ready.view
      try checkMayChange(request, in: view, for: run, own)
      guard view.fleet?.has(request) == true else {
        return view.cancel(request) { completion(CallAnswer($0.mapError(\.ofEnded).map { _ in .done })) }
      }
      completion(CallAnswer(Result { () throws(RequestRefusal) in try view.cancelOfFleet(request) }.map { _ in .done }))
    case .pending(_, let request):
      let view = try sources.ready.view
      try view.checkWhole(own)
      completion(.pending(try reading { () throws(StoreError) in try view.pendingRequests(of: own, after: request) }))
    case .cancelPending(_, let identifier):
      if let identifier, !own.contains(identifier) {
        throw CallFailure(.notPermitted, "\(identifier) is not an identifier of the plugin that registered \(run.identifier)")
      }
      let view = try sources.ready.view
      let named = identifier.map { [$0] } ?? own
      let done: @Sendable (Result<Int, RequestRefusal>) -> Void = { completion(CallAnswer($0.map { .count($0) })) }
      guard view.shares(named) else { return scheduler.perform(.cancelPending(of: named).onBehalf(of: run), completion: done) }
      let tooMany = CallFailure(.unavailable, "too many cancellations wait: try again later")
      Self.queue(at: cancellations, for: plugin, or: tooMany, completion) {
        done(Result { () throws(RequestRefusal) in try view.cancelPending(of: named, onBehalfOf: run) })
        return .zero
      }
    case .notify(_, let event, let payload):
      try rules.events.check(event, from: run.identifier, own: own)
      let fleet = sources?.view.fleet
      scheduler.notify(event, payload: payload, from: run.run, of: run.request) { result in
        fleet.passing(result, of: event, payload: payload) { completion(CallAnswer($0.map { .count($0.waiting) })) }
      }
    case .ask(_, let question):
      let sources = try sources.ready
      if let identifier = question.identifier { try sources.view.checkWhole([identifier]) }
      let answers = PluginAnswers(sources.view, rules: rules.submissions) { [self] (record) throws(CallFailure) in
        try reading { () throws(StoreError) in try sources.explainer.explain(record) }
      } conditions: {
        sources.conditions()
      }
      completion(.page(try answers.answer(to: question, from: run.identifier, own: own)))
    case .snooze(_, let request, let delay):
      do throws(RequestRefusal) { try RequestField.delay.check(delay) } catch { throw CallFailure(error) }
      let view = try sources.ready.view
      try checkMayChange(request, in: view, for: run, own)
      view.change(request, .snooze(request, until: clock.wallTime + delay).onBehalf(of: run)) { result in
        completion(
          CallAnswer(result.map { .submission(Submission(id: request, disposition: .updated, nextStart: $0.record.due, notes: $0.notes)) }))
      }
    case .update(_, let request, let fields):
      let view = try sources.ready.view
      try checkMayChange(request, in: view, for: run, own)
      try rules.submissions.check(fields.identifier, from: run.identifier, own: own)
      try rules.submissions.checkFields(of: fields, own: own)
      var fields = fields
      // Its ends are then told with this plugin's authority.
      if fields.identifier == .transfers { fields.owner = plugin }
      view.change(request, .update(request, with: fields).onBehalf(of: run)) { result in
        completion(CallAnswer(result.map { .submission($0) }))
      }
    case .openFiles(_, let directory, let files):
      let paths = own.map(rules.entitledPaths).reduce(EntitledPaths(read: [], write: [])) { $0.union($1) }
      guard !paths.entitlement(to: directory).isEmpty else {
        let advice = rules.mayBeEntitled(to: directory) ? "add it to entitlements.read" : "it is the host's own: no entitlement allows it"
        throw CallFailure(
          .notPermitted, "\(directory.escapingControlCharacters) is not below a path of the plugin's entitlements: \(advice)")
      }
      desk.ask(files, in: directory, by: plugin) { result in
        switch result {
        case .success(let uses): completion(.bytes(uses.map(\.rawValue)))
        case .failure(let failure): completion(.failure(failure))
        }
      }
    case .beginAssertion(_, let name, let reason, let length):
      var request = AssertionRequest(name: name, reason: reason, length: length)
      request.run = run
      do throws(RequestRefusal) { completion(.assertion(try assertions.begin(request).id)) } catch { throw CallFailure(error) }
    case .endAssertion(_, let id):
      do throws(RequestRefusal) { try assertions.giveBack(id, by: run.run) } catch { throw CallFailure(error) }
      completion(.done)
    case .transferFolder: completion(.text(try rules.transferPermission(own, asking: run.identifier).folder))
    case .submitTransfer(_, let request):
      try rules.submissions.checkWake(of: request, own: own)
      let order = try rules.transferPermission(own, asking: run.identifier).order(request)
      scheduler.perform(.submit(order, by: plugin).onBehalf(of: run)) { result in
        completion(CallAnswer(result.map { .submission($0) }))
      }
    case .changeTransfer(_, let id, let change): try self.change(id, change, by: run, own, completion)
    case .admit, .settings, .dataDirectory, .admitRequest, .launchPending, .resourceTokens: throw .launchIsOver
    }
  }

  private func change(
    _ id: RequestID, _ change: TransferChange, by run: RunReference, _ own: [TaskIdentifier],
    _ completion: @escaping @Sendable (CallAnswer) -> Void
  ) throws(CallFailure) {
    let record = try reading { () throws(StoreError) in try store.request(id) }
    guard let record, !record.state.isFinal, TransferPermission.owns(record, own) else {
      throw CallFailure(.notFound, "the plugin has no live transfer \(id)")
    }
    let ended: @Sendable (Result<RequestRecord, RequestRefusal>) -> Void = { completion(CallAnswer($0.map { _ in .done })) }
    switch change {
    case .cancel: scheduler.perform(.cancel(id, quietly: true), completion: ended)
    case .pause: scheduler.perform(.pause(id, RequestPause(byPlugin: run.identifier, since: clock.wallTime)), completion: ended)
    case .resume: scheduler.perform(.resume(id, isPlugins: true), completion: ended)
    }
  }

  /// Throws unless it is a live request that the run's plugin may cancel and change: `notFound`, and `notPermitted` for the request of a
  /// `schedule`.
  private func checkMayChange(
    _ request: RequestID, in view: RequestView, for run: RunReference, _ own: [TaskIdentifier]
  ) throws(CallFailure) {
    let record = try rules.current.submissions.visible(
      try reading { () throws(StoreError) in try view.request(request) }, request, to: run.identifier, own: own, isLive: true)
    guard !record.request.isSchedule else {
      throw CallFailure(.notPermitted, "\(record.id) stands for a schedule in the configuration, which is the operator's")
    }
  }

  private func reading<Value>(_ body: () throws(StoreError) -> Value) throws(CallFailure) -> Value {
    do { return try body() } catch { throw CallFailure(.unavailable, error.description) }
  }
}

/// For runs in threads of the host: each call blocks the plugin's thread until it is answered.
extension PluginServices: CallingServices {
  func ask(_ call: WorkerCall, for run: RunReference) throws(CallFailure) -> CallAnswer {
    let awaited = Awaited<CallAnswer>()
    serve(call, for: run) { awaited.set($0) }
    let answer = awaited.wait()
    if case .failure(let failure) = answer { throw failure }
    return answer
  }
}

extension PluginServices.Sources? {
  fileprivate var ready: PluginServices.Sources {
    get throws(CallFailure) {
      guard let self else { throw CallFailure(.unavailable, "the host has not launched yet: ask again soon") }
      return self
    }
  }
}

extension RequestView {
  /// Throws while the fleet has requests of these identifiers that cannot be read: a plugin would take a part for the whole.
  fileprivate func checkWhole(_ identifiers: [TaskIdentifier]) throws(CallFailure) {
    if shares(identifiers), let gap { throw CallFailure(.unavailable, gap) }
  }
}

extension PluginQuestion {
  /// The identifier whose requests or runs the question lists; nil for other questions.
  fileprivate var identifier: TaskIdentifier? {
    switch self {
    case .requests(let identifier, _), .runs(let identifier, _), .lastSuccess(let identifier): identifier
    default: nil
    }
  }
}

extension WorkerCall {
  /// Whether it may be answered that there are too many such.
  fileprivate var isQuestion: Bool { if case .ask = self { true } else { false } }

  /// Whether paths are followed for the answer, and nothing else is asked.
  fileprivate var asksForPlaces: Bool { if case .openFiles = self { true } else { false } }

  /// Whether the answer takes a forecast.
  fileprivate var isForecast: Bool { if case .ask(_, .explanation) = self { true } else { false } }

  /// How much it may hold up others at the fleet's database; nil if it does not go there, or waits for its turn at a desk until it has been
  /// there. What is submitted goes there together.
  fileprivate func weight(in view: RequestView) -> Int? {
    guard let fleet = view.fleet else { return nil }
    return switch self {
    case .submit(_, let request): view.shares([request.identifier]) ? 1 : nil
    case .notify: 4
    case .snooze(_, let id, _), .update(_, let id, _): fleet.has(id) ? 4 : nil
    default: nil
    }
  }

  /// Whether the answer takes longer than to read from the store.
  ///
  /// - Parameter own: The identifiers of the plugin that calls.
  fileprivate func takesLong(of own: [TaskIdentifier], in view: RequestView) -> Bool {
    switch self {
    // A long path, or one on a server that does not answer, is followed before anything else.
    case .ask, .openFiles: true
    case .pending: view.shares(own)
    case .cancel(_, let id), .snooze(_, let id, _), .update(_, let id, _): view.fleet?.has(id) == true
    case .submit(_, let request): view.fleet != nil && !request.after.isEmpty
    default: false
    }
  }
}

extension RequestRefusal {
  /// To plugins, a request that has ended is none: the one that they meant may have ended at this moment.
  fileprivate var ofEnded: RequestRefusal { code == .conflict ? RequestRefusal(.notFound, message) : self }
}

extension CallAnswer {
  fileprivate init(_ result: Result<CallAnswer, RequestRefusal>) {
    switch result {
    case .success(let answer): self = answer
    case .failure(let refusal): self = .failure(CallFailure(refusal))
    }
  }

  fileprivate init(_ result: Result<Void, RequestRefusal>) { self.init(result.map { .done }) }
}
