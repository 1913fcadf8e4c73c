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
  /// When the next pending request is due; nil if none is pending.
  public var nextDue: WallTime?
  /// What the operator should know or do something about, what needs a person first.
  public var problems: [Problem]
  /// What the machine lacks of the plugins' sandbox, a sentence each.
  public var sandbox: [String]
  /// What each schedule did last, in the order of identifiers.
  public var tasks: [TaskActivity]
  /// What was counted since the host started.
  public var counters: HostCounters

  /// A status as given; the problems are put into their order.
  public init(
    version: String, processID: Int32, phase: HostPhase, started: WallTime, stateDirectory: String, requests: [RequestState: Int],
    running: Int, maxConcurrentRuns: Int, pluginsRegistered: Int, pluginsRefused: Int, nextDue: WallTime?, problems: [Problem],
    sandbox: [String] = [], tasks: [TaskActivity] = [], counters: HostCounters = HostCounters()
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
  }
}
