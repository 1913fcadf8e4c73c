/// The state of a host at one moment.
public struct HostStatus: Sendable, Hashable {
  /// taskhost's version.
  public var version: String
  /// The id of the host's process.
  public var processID: Int32
  /// The phase of the host's life.
  public var phase: HostPhase
  /// When the host started.
  public var started: WallTime
  /// The absolute path of the state directory.
  public var stateDirectory: String
  /// The number of requests in each state.
  public var requests: [RequestState: Int]
  /// The number of live runs.
  public var running: Int
  /// The maximum number of concurrent runs.
  public var maxConcurrentRuns: Int
  /// The number of registered plugins.
  public var pluginsRegistered: Int
  /// The number of refused plugin files.
  public var pluginsRefused: Int
  /// When the next pending request is due; nil if no request is pending.
  public var nextDue: WallTime?
  /// What the operator should know or fix. Problems that need a person come first.
  public var problems: [Problem]
  /// The parts of the plugins' sandbox that the machine lacks, a sentence each.
  public var sandbox: [String]
  /// The activity of each schedule, in the order of identifiers.
  public var tasks: [TaskActivity]
  /// The counters since the host's start.
  public var counters: HostCounters
  /// The execution assertions that are held, oldest first.
  public var assertions: [Assertion]
  /// The pauses in force, oldest first.
  public var pauses: [Pause]
  /// What is expected of identifiers, and whether they are late, ordered by identifier.
  public var objectives: [ObjectiveState]

  /// Creates a status and sorts the problems.
  public init(
    version: String, processID: Int32, phase: HostPhase, started: WallTime, stateDirectory: String, requests: [RequestState: Int],
    running: Int, maxConcurrentRuns: Int, pluginsRegistered: Int, pluginsRefused: Int, nextDue: WallTime?, problems: [Problem],
    sandbox: [String] = [], tasks: [TaskActivity] = [], counters: HostCounters = HostCounters(),
    assertions: [Assertion] = [], pauses: [Pause] = [], objectives: [ObjectiveState] = []
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
    self.problems = problems.sorted()
    self.sandbox = sandbox
    self.tasks = tasks
    self.counters = counters
    self.assertions = assertions
    self.pauses = pauses
    self.objectives = objectives
  }
}
