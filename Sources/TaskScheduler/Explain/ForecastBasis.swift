public import TaskModel

/// The state of the host from which a forecast begins.
public struct ForecastBasis: Sendable {
  /// The operator's rules.
  public let policy: SchedulingPolicy
  /// The registered handlers.
  public var contracts: [HandlerContract]
  /// The health of plugins.
  public var pluginHealth: [TaskIdentifier: PluginHealth]
  /// Why handlers accept no runs, for those that accept none.
  public var suspensions: [TaskIdentifier: String] = [:]
  /// The machine's conditions; nil if they are unknown, so that every condition counts as held.
  public var conditions: ConditionReport?
  /// Whether the host begins no more runs.
  public var isDraining = false
  /// The pauses in force.
  var pauses = PauseBook()
  /// When the forecast begins.
  public var from: WallTime
  var limits: LimitTracker
  /// Requests due before this time were missed.
  var awakeSince: WallTime

  /// Creates the basis of a host that has just started, with unused limits.
  public init(
    policy: SchedulingPolicy, contracts: [HandlerContract], pluginHealth: [TaskIdentifier: PluginHealth] = [:],
    conditions: ConditionReport? = nil,
    from: WallTime
  ) {
    self.policy = policy
    self.contracts = contracts
    self.pluginHealth = pluginHealth
    self.conditions = conditions
    self.from = from
    limits = LimitTracker(policy)
    awakeSince = from
  }

  init(_ core: SchedulerCore, now: WallTime) {
    self.init(
      policy: core.policy, contracts: core.handlers.values.map(\.contract), pluginHealth: core.pluginHealth, conditions: core.conditions,
      from: now)
    suspensions = core.handlers.compactMapValues(\.suspension)
    isDraining = core.isDraining
    pauses = core.pauses
    limits = core.limits
    for entry in core.live.values { limits.give(entry) }
    limits.assumeBegun(at: now)
    awakeSince = core.awakeSince
  }
}

extension Scheduler {
  /// Gets the host's present state, for a forecast on another thread. `completion` is called on the scheduler's thread.
  public func forecastBasis(completion: @escaping @Sendable (ForecastBasis) -> Void) {
    inspect { core, now in completion(ForecastBasis(core, now: now)) }
  }
}
