public import TaskModel

/// What the control API needs of a host. Every call may be made from any task; answers to changes come after they are durable.
public protocol ControlledHost: Sendable {
  /// Submits requests, all or none.
  func submit(_ requests: [TaskRequest]) async throws(ControlError) -> [Submission]
  /// The requests that match, newest first, without payload.
  func requests(_ query: RequestQuery) async throws(ControlError) -> [RequestRecord]
  /// A request with its payload.
  func request(_ id: RequestID) async throws(ControlError) -> RequestRecord
  /// Why a request is not running now, a sentence for each gate that holds it; empty: nothing holds it.
  func gates(of id: RequestID) async throws(ControlError) -> [String]
  /// Cancels a request; while it runs, its run is asked to stop and the request ends with it.
  func cancel(_ id: RequestID) async throws(ControlError) -> RequestRecord
  /// Makes a dead letter pending again.
  func retry(_ id: RequestID) async throws(ControlError) -> RequestRecord
  /// The runs that match, the live ones first, then newest first.
  func runs(_ query: RunQuery) async throws(ControlError) -> [RunRecord]
  /// A run, live or ended.
  func run(_ id: RunID) async throws(ControlError) -> RunRecord
  /// Every plugin file that was found, in file-name order.
  func plugins() async -> [PluginStatus]
  /// Makes the identifier's first pending request due at once, or submits one, and starts it ahead of its turn.
  func simulateLaunch(_ identifier: TaskIdentifier) async throws(ControlError) -> RequestRecord
  /// Expires the identifier's live runs as if their budget were spent.
  ///
  /// - Returns: The runs that were asked to stop.
  func simulateExpiration(_ identifier: TaskIdentifier) async throws(ControlError) -> [RunID]
  /// One look at the host.
  func status() async -> HostStatus
  /// Begins to drain. Returns at once.
  func shutdown() async
  /// Events from now on, until the stream is dropped or the host ends. A reader that lags loses the oldest (at most 10,000 wait).
  func events(_ filter: EventFilter) async -> AsyncStream<HostEvent>
}

/// Which events a reader wants.
public struct EventFilter: Sendable, Hashable {
  /// Only those of this request.
  public var request: RequestID?

  /// All, or those of one request.
  public init(request: RequestID? = nil) { self.request = request }
}

/// Something that happened in the host.
public enum HostEvent: Sendable, Hashable {
  /// A request is now as given (without payload): submitted, started, due again, ended.
  case request(RequestRecord)
  /// A run started (no outcome) or ended.
  case run(RunRecord)
  /// A run reported progress.
  case progress(RunID, RequestID, RunProgress)
  /// A run wrote a line.
  case log(RunID, RequestID, LogLine)
}

/// A plugin file and what became of it.
public struct PluginStatus: Sendable, Hashable {
  /// Where it stands.
  public enum Standing: String, Sendable, CaseIterable {
    /// Registered, takes runs.
    case registered
    /// Registered, takes no runs: a thread it overran is still in its hands.
    case suspended
    /// Not loaded, or not registered; `reason` says why.
    case refused
  }

  /// The file's path.
  public var file: String
  /// Where it stands.
  public var standing: Standing
  /// What it registered; nil when refused.
  public var contract: HandlerContract?
  /// "thread" or "process".
  public var isolation: String
  /// Its runs now.
  public var running: Int
  /// Why it is refused or suspended: a machine-readable code and a sentence.
  public var reason: (code: String, message: String)? { reasonCode.map { ($0, reasonMessage ?? "") } }
  /// The code of `reason`.
  public var reasonCode: String?
  /// The sentence of `reason`.
  public var reasonMessage: String?

  /// A status as given.
  public init(
    file: String, standing: Standing, contract: HandlerContract? = nil, isolation: String = "thread", running: Int = 0,
    reasonCode: String? = nil, reasonMessage: String? = nil
  ) {
    self.file = file
    self.standing = standing
    self.contract = contract
    self.isolation = isolation
    self.running = running
    self.reasonCode = reasonCode
    self.reasonMessage = reasonMessage
  }
}

/// One look at a host.
public struct HostStatus: Sendable, Hashable {
  /// taskhost's version.
  public var version: String
  /// The host's process.
  public var processID: Int32
  /// Where it is in its life.
  public var phase: HostPhase
  /// When it started.
  public var started: WallTime
  /// Its state directory, an absolute path.
  public var stateDirectory: String
  /// How many requests are in each state.
  public var requests: [RequestState: Int]
  /// Its live runs.
  public var running: Int
  /// How many runs it allows at once.
  public var maxConcurrentRuns: Int
  /// How many plugins are registered.
  public var pluginsRegistered: Int
  /// How many plugin files were refused.
  public var pluginsRefused: Int
  /// When the next pending request is due; nil: none is.
  public var nextDue: WallTime?
  /// What the operator should know: a store that cannot be written, plugins in thread isolation that wanted a process, …
  public var warnings: [String]

  /// A status as given.
  public init(
    version: String, processID: Int32, phase: HostPhase, started: WallTime, stateDirectory: String, requests: [RequestState: Int],
    running: Int, maxConcurrentRuns: Int, pluginsRegistered: Int, pluginsRefused: Int, nextDue: WallTime?, warnings: [String]
  ) {
    self.version = version
    self.processID = processID
    self.phase = phase
    self.started = started
    self.stateDirectory = stateDirectory
    self.requests = requests
    self.running = running
    self.maxConcurrentRuns = maxConcurrentRuns
    self.pluginsRegistered = pluginsRegistered
    self.pluginsRefused = pluginsRefused
    self.nextDue = nextDue
    self.warnings = warnings
  }
}

/// Why the host did not do what it was asked; nothing was changed.
public struct ControlError: Error, Sendable, Hashable {
  /// What sort of refusal; decides the HTTP status and the CLI's exit code.
  public enum Code: String, Sendable, CaseIterable {
    /// The input is malformed (400).
    case invalid
    /// No such request, run or plugin (404).
    case notFound = "not_found"
    /// The state does not allow it (409).
    case conflict
    /// Too big (413).
    case tooBig = "too_big"
    /// Well formed, but the host refuses it: unknown identifier, not permitted (422).
    case refused
    /// A quota or cap is reached (429).
    case limit
    /// Not offered by this version (501).
    case unsupported
    /// The store cannot be written, or the host is draining (503).
    case unavailable
    /// A defect in the host (500).
    case `internal`
  }

  /// What sort of refusal.
  public var code: Code
  /// What was seen and what to do.
  public var message: String
  /// The field it is about: "requests[3].priority"; nil: none in particular.
  public var field: String?

  /// An error as given.
  public init(_ code: Code, _ message: String, field: String? = nil) {
    self.code = code
    self.message = message
    self.field = field
  }
}
