import Glibc
public import HostControl
public import RecordJSON
import StoreTestSupport
import Synchronization
public import TaskFilters
public import TaskModel

/// A host that keeps everything in memory and runs nothing: a test says what happens to a request.
public final class MemoryHost: ControlledHost {
  /// What happens after a submission was stored and before it is answered: so everything it emits is earlier than the answer.
  public typealias Script = @Sendable (MemoryHost, RequestID) async -> Void

  struct State {
    var requests: [RequestID: RequestRecord] = [:]
    var runs: [RunID: RunRecord] = [:]
    var gates: [Gate] = []
    var earliestStart: WallTime?
    var assumptions: [String] = []
    var wouldRunIf: [String] = []
    var overrides: [Conditions: Bool] = [:]
    var assertions: [AssertionID: Assertion] = [:]
    var asked: [AssertionRequest] = []
    var forgetsAssertions = false
    var forecast: Forecast?
    var pauses: [Pause] = []
    var pausesMade: Int64 = 0
    var tasks: [TaskActivity] = []
    var counters = HostCounters()
    var payloads: [RequestID: [UInt8]] = [:]
    var plugins: [PluginStatus] = []
    var sandbox: [String] = []
    var problems: [Problem] = []
    var phase = HostPhase.launched
    var storeProblem: String?
    var observer: HostObserver?
    var generator = RecordIDGenerator(after: 0)
    var submitted: [TaskRequest] = []
    var ended = false
  }

  let state = Mutex(State())
  private let script: Script
  private let onReader: @Sendable (MemoryHost) -> Void
  private let onReadersGone: @Sendable () -> Void
  let now = WallTime(unixMilliseconds: 1_700_000_000_000)

  /// A host that does `script` with every submission.
  ///
  /// - Parameters:
  ///   - onReader: Called when a reader of events comes.
  ///   - onReadersGone: Called when nobody reads events any more.
  public init(
    script: @escaping Script = { _, _ in }, onReader: @escaping @Sendable (MemoryHost) -> Void = { _ in },
    onReadersGone: @escaping @Sendable () -> Void = {}
  ) {
    self.script = script
    self.onReader = onReader
    self.onReadersGone = onReadersGone
  }

  /// The requests that were submitted, as they arrived.
  public var submitted: [TaskRequest] { state.withLock { $0.submitted } }
  /// Whether streams are read, or were a moment ago.
  public var isObserved: Bool { state.withLock { $0.observer != nil } }
  /// What `explanation(of:)` answers.
  public func setGates(_ gates: [Gate], earliestStart: WallTime? = nil, assumptions: [String] = [], wouldRunIf: [String] = []) {
    state.withLock { ($0.gates, $0.earliestStart, $0.assumptions, $0.wouldRunIf) = (gates, earliestStart, assumptions, wouldRunIf) }
  }
  /// What `forecast(hours:limit:)` answers; it is cut to the limit.
  public func setForecast(_ forecast: Forecast) { state.withLock { $0.forecast = forecast } }
  /// What `status()` says of the identifiers, and has counted.
  public func setTasks(_ tasks: [TaskActivity], counters: HostCounters = HostCounters()) {
    state.withLock { ($0.tasks, $0.counters) = (tasks, counters) }
  }
  /// The payload that the last event brought for a request; nil: none did.
  public func eventPayload(of id: RequestID) -> [UInt8]? { state.withLock { $0.payloads[id] } }
  /// What `plugins()` answers.
  public func setPlugins(_ plugins: [PluginStatus]) { state.withLock { $0.plugins = plugins } }
  /// What `status()` says the machine lacks.
  public func setSandbox(_ sandbox: [String]) { state.withLock { $0.sandbox = sandbox } }
  /// What `status()` says of problems.
  public func setProblems(_ problems: [Problem]) { state.withLock { $0.problems = problems } }
  /// What `health()` says of the store.
  public func setStoreProblem(_ problem: String?) { state.withLock { $0.storeProblem = problem } }
  /// Stores a request as it is.
  public func put(_ record: RequestRecord) { state.withLock { $0.requests[record.id] = record } }
  /// Stores a run as it is.
  public func put(_ record: RunRecord) { state.withLock { $0.runs[record.id] = record } }

  /// A new id.
  public func newSequence() -> Int64 { state.withLock { $0.generator.next(at: now) } }

  /// Puts a request into a state, unless that is nil, changes what else `change` says, and tells the readers.
  public func change(_ id: RequestID, to next: RequestState? = nil, _ change: @Sendable (inout RequestRecord) -> Void = { _ in }) {
    let record = state.withLock { state -> RequestRecord? in
      guard var record = state.requests[id] else { return nil }
      if let next { record.place(in: next) }
      change(&record)
      state.requests[id] = record
      return record
    }
    if let record { emit(.request(record)) }
  }

  /// Begins a run of a request.
  public func begin(_ request: RequestID, attempt: Int = 1) -> RunID {
    let run = RunID(sequence: newSequence(), origin: 1)
    let identifier = state.withLock { $0.requests[request]?.request.identifier }
    guard let identifier else { return run }
    let record = RunRecord(id: run, request: request, identifier: identifier, attempt: attempt, started: now)
    put(record)
    change(request, to: .running)
    emit(.run(record))
    return run
  }

  /// Ends a run, and puts its request into `state`.
  public func end(
    _ run: RunID, _ outcome: RunOutcome, message: String? = nil, output: [UInt8] = [], then next: RequestState, attemptsSpent: Int = 0
  ) {
    let record = state.withLock { state -> RunRecord? in
      guard var record = state.runs[run] else { return nil }
      (record.outcome, record.ended) = (outcome, now + .milliseconds(1234))
      (record.report.message, record.report.output) = (message, output)
      state.runs[run] = record
      return record
    }
    guard let record else { return }
    emit(.run(record))
    change(record.request, to: next) { ($0.lastOutcome, $0.lastMessage, $0.attemptsSpent) = (outcome, message, attemptsSpent) }
  }

  /// Writes a line to a run's log.
  public func log(_ run: RunID, _ message: String) {
    let line = LogLine(time: now, level: .info, message: message)
    state.withLock { $0.runs[run]?.report.log.append(line) }
    if let reference = reference(to: run) { emit(.log(reference, line)) }
  }

  /// Says how far a run is.
  public func report(_ run: RunID, _ progress: RunProgress) {
    if let reference = reference(to: run) { emit(.progress(reference, progress)) }
  }

  /// Says what a run has done.
  public func report(_ run: RunID, _ work: RunWork) {
    if let reference = reference(to: run) { emit(.work(reference, work)) }
  }

  private func reference(to run: RunID) -> RunReference? {
    state.withLock { $0.runs[run].map { RunReference(run: run, request: $0.request, identifier: $0.identifier) } }
  }

  /// Tells the readers.
  public func emit(_ event: HostEvent) { state.withLock { $0.observer }?.receive(event) }

  /// Ends all streams, as a host does that ends.
  public func finish() {
    let observer = state.withLock { state in
      state.ended = true
      return state.observer
    }
    observer?.finish()
  }

  // MARK: ControlledHost

  /// It shares its queue with nobody.
  public var isInFleet: Bool { false }

  /// Without a fleet, nothing has to be parked.
  public func submitOrPark(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] { try await submit(requests) }

  /// As the protocol says.
  public func submit(_ requests: [TaskRequest]) async throws(RequestRefusal) -> [Submission] {
    if let index = requests.firstIndex(where: { $0.identifier.rawValue == "unknown" }) {
      throw RequestRefusal(.unknownIdentifier, "nobody registered unknown", field: "[\(index)].identifier")
    }
    var answers: [Submission] = []
    for request in requests {
      if let key = request.idempotencyKey, let known = requestWith(idempotencyKey: key) {
        answers.append(
          Submission(
            id: known.id, disposition: .created, nextStart: known.due, isRepeated: true, effective: EffectiveSchedule(known)))
        continue
      }
      if let key = request.uniqueKey, let holder = holder(of: key, identifier: request.identifier) {
        await script(self, holder.id)
        answers.append(Submission(id: holder.id, disposition: .kept, nextStart: holder.due))
        continue
      }
      let id = RequestID(sequence: newSequence(), origin: 1)
      // People see it beside the real time.
      let delayed = request.delay.map { WallTime(unixMilliseconds: Int64(time(nil)) * 1000) + $0 }
      let due = request.event == nil ? request.earliestBegin ?? delayed ?? now : .distantFuture
      let record = RequestRecord(id: id, request: request, state: .pending, due: due, submitted: now)
      put(record)
      state.withLock { $0.submitted.append(request) }
      await script(self, id)
      answers.append(
        Submission(
          id: id, disposition: .created, nextStart: due, notes: request.priority == 10 ? ["a note"] : [],
          effective: EffectiveSchedule(record)))
    }
    return answers
  }

  /// As the protocol says.
  public func requests(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    let all = state.withLock { $0.requests.values.sorted { $0.id > $1.id } }
    let matching = all.filter { record in
      (query.identifier == nil || record.request.identifier == query.identifier)
        && (query.states.isEmpty || query.states.contains(record.state))
        && (query.tag.map { record.request.tags.contains($0) } ?? true) && (query.after.map { record.id < $0 } ?? true)
    }
    return matching.prefix(query.limit).map { record in
      var record = record
      record.request.payload = []
      return record
    }
  }

  /// As the protocol says.
  public func requests(
    matching filter: RequestFilter, after cursor: RequestID?, limit: Int
  ) async throws(RequestRefusal) -> ScannedRequests {
    let all = state.withLock { $0.requests.values.sorted { $0.id > $1.id } }
    let matching = all.filter { record in filter.accepts(record) && cursor.map { record.id < $0 } ?? true }
    var found = ScannedRequests()
    found.records = Array(matching.prefix(limit))
    if matching.count > limit { found.next = found.records.last?.id }
    return found
  }

  /// As the protocol says: the dead letters.
  public func requestsWithProblems(_ query: RequestQuery) async throws(RequestRefusal) -> [RequestRecord] {
    var query = query
    query.states = [.failed]
    return try await requests(query)
  }

  /// As the protocol says.
  public func request(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    guard let record = state.withLock({ $0.requests[id] }) else {
      throw RequestRefusal(.notFound, "there is no request \(id)", field: "id")
    }
    return record
  }

  /// As the protocol says.
  public func cancel(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    let record = try await request(id)
    guard !record.state.isFinal else {
      throw RequestRefusal(.conflict, "\(id) \(record.state == .cancelled ? "was" : "has") already \(record.state.rawValue)")
    }
    change(id, to: .cancelled)
    return try await request(id)
  }

  /// As the protocol says.
  public func pause(_ id: RequestID, _ pause: RequestPause) async throws(RequestRefusal) -> RequestRecord {
    guard try await !request(id).state.isFinal else { throw RequestRefusal(.conflict, "only a live request can be paused") }
    change(id) { $0.paused = $0.paused ?? pause }
    return try await request(id)
  }

  /// As the protocol says.
  public func resume(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    guard try await !request(id).state.isFinal else { throw RequestRefusal(.conflict, "only a live request can be resumed") }
    change(id) { $0.paused = nil }
    return try await request(id)
  }

  /// As the protocol says.
  public func retry(_ id: RequestID) async throws(RequestRefusal) -> RequestRecord {
    guard try await request(id).state == .failed else { throw RequestRefusal(.conflict, "only a failed request can be retried") }
    change(id, to: .pending)
    return try await request(id)
  }

  /// As the protocol says.
  public func runs(_ query: RunQuery) async throws(RequestRefusal) -> (records: [RunRecord], next: RunID?) {
    let all = state.withLock { $0.runs.values.sorted { $0.id > $1.id } }
    let found = Array(all.filter(query.matches).prefix(query.limit))
    return (found, found.count < query.limit ? nil : found.last { $0.outcome != nil }?.id)
  }

  /// As the protocol says.
  public func run(_ id: RunID) async throws(RequestRefusal) -> RunRecord {
    guard let record = state.withLock({ $0.runs[id] }) else { throw RequestRefusal(.notFound, "there is no run \(id)", field: "id") }
    return record
  }

  /// As the protocol says.
  public func plugins() async -> [PluginStatus] { state.withLock { $0.plugins } }

  /// As the protocol says; the worker of a plugin that is listed is this process.
  public func debug(_ identifier: TaskIdentifier, by process: Int32) async throws(RequestRefusal) -> Int32 {
    guard state.withLock({ $0.plugins.contains { $0.contract?.identifier == identifier } }) else {
      throw RequestRefusal(.notFound, "no plugin has registered \(identifier)", field: "identifier")
    }
    return getpid()
  }

  /// As the protocol says; a plugin that is listed has what its status says held against it.
  public func release(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> PluginHealth {
    try state.withLock { state throws(RequestRefusal) in
      guard let index = state.plugins.firstIndex(where: { $0.contract?.identifier == identifier }) else {
        throw RequestRefusal(.notFound, "no plugin has registered \(identifier), and it has no failures", field: "identifier")
      }
      let plugin = state.plugins[index]
      var health = PluginHealth()
      health.failures = plugin.failures
      health.heldUntil = plugin.heldUntil
      health.quarantinedSince = plugin.isQuarantined ? now : nil
      health.lastTrouble = plugin.lastTrouble
      state.plugins[index] = PluginStatus(
        file: plugin.file, health: .registered, contract: plugin.contract, isolation: plugin.isolation, running: plugin.running)
      return health
    }
  }

  /// As the protocol says.
  public func simulateLaunch(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> RequestRecord {
    let submission = try await submit([TaskRequest(identifier: identifier)])
    guard let id = submission.first?.id else { throw RequestRefusal(.internal, "nothing was submitted") }
    return try await request(id)
  }

  /// As the protocol says.
  public func simulateExpiration(_ identifier: TaskIdentifier) async throws(RequestRefusal) -> [RunID] {
    guard identifier.rawValue != "unknown" else { throw RequestRefusal(.notFound, "nobody registered unknown", field: "identifier") }
    return state.withLock { state in state.runs.values.filter { $0.identifier == identifier && $0.outcome == nil }.map(\.id) }
  }

  /// As the protocol says.
  public func status() async -> HostStatus {
    state.withLock { state in
      HostStatus(
        version: "0.1.0", processID: 42, phase: state.phase, started: now, stateDirectory: "/var/lib/taskhost",
        requests: [.pending: 2, .claimed: 1, .failed: 3], running: 0, maxConcurrentRuns: 16, pluginsRegistered: 1, pluginsRefused: 0,
        nextDue: nil, problems: state.problems, sandbox: state.sandbox, tasks: state.tasks, counters: state.counters,
        assertions: state.assertions.values.sorted { $0.id < $1.id }, pauses: state.pauses)
    }
  }

  /// As the protocol says.
  public func metrics() async -> HostMetrics {
    var metrics = HostMetrics(status: await status(), commits: 7, logBytes: 4096, workerStarts: 2)
    for run in state.withLock({ $0.runs.values.map { $0 } }) { metrics.tasks[run.identifier, default: TaskMetrics()].add(run) }
    return metrics
  }

  /// One value and one that is hidden.
  public func loadedConfiguration() async -> LoadedConfiguration {
    LoadedConfiguration(
      file: "/etc/taskhost/taskhost.toml",
      values: [
        ConfiguredValue(key: "max_pending", value: "5", standard: "10000", isHidden: false),
        ConfiguredValue(key: "plugin.\"a.b\".settings", value: "\"•••\"", standard: "{}", isHidden: true),
      ])
  }

  /// As the protocol says.
  public func shutdown() async {
    state.withLock { $0.phase = .draining }
    finish()
  }

  /// As the protocol says.
  public func health() async -> HostHealth {
    state.withLock { HostHealth(phase: $0.phase, storeProblem: $0.storeProblem) }
  }

  /// As the protocol says.
  public func observe(_ observer: HostObserver?) {
    state.withLock { $0.observer = observer }
    if observer == nil { onReadersGone() }
  }

  /// As the protocol says.
  public func settle() async {
    let (observer, ended) = state.withLock { ($0.observer, $0.ended) }
    if ended { observer?.finish() }
    onReader(self)
  }

  private func holder(of key: String, identifier: TaskIdentifier) -> RequestRecord? {
    state.withLock { state in
      state.requests.values.first { $0.request.uniqueKey == key && $0.request.identifier == identifier && !$0.state.isFinal }
    }
  }

  private func requestWith(idempotencyKey key: String) -> RequestRecord? {
    state.withLock { state in state.requests.values.first { $0.request.idempotencyKey == key } }
  }
}
