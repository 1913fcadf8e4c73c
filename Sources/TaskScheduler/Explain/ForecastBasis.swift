public import TaskModel

/// How the host stands at one moment, as far as what runs next depends on it: where a forecast begins.
public struct ForecastBasis: Sendable {
  /// The operator's rules.
  public let policy: SchedulingPolicy
  /// The handlers there are.
  public var contracts: [HandlerContract]
  /// What counts against plugins.
  public var pluginHealth: [TaskIdentifier: PluginHealth]
  /// Why handlers take no runs, those that do.
  public var suspensions: [TaskIdentifier: String] = [:]
  /// What is known of the machine; nil: nothing is, and every condition counts as held.
  public var conditions: ConditionReport?
  /// Whether the host begins no more runs.
  public var isDraining = false
  /// The moment.
  public var from: WallTime
  /// What is taken of the operator's limits.
  var limits: LimitTracker
  /// What was due before then was missed.
  var awakeSince: WallTime

  /// A host that has just begun, with nothing taken of its limits.
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

  /// A running host.
  init(_ core: SchedulerCore, now: WallTime) {
    self.init(
      policy: core.policy, contracts: core.handlers.values.map(\.contract), pluginHealth: core.pluginHealth, conditions: core.conditions,
      from: now)
    suspensions = core.handlers.compactMapValues(\.suspension)
    isDraining = core.isDraining
    limits = core.limits
    for entry in core.live.values { limits.give(entry) }
    limits.assumeBegun(at: now)
    awakeSince = core.awakeSince
  }
}

extension Scheduler {
  /// How the host stands now, for a forecast that is made on another thread.
  public func forecastBasis(completion: @escaping @Sendable (ForecastBasis) -> Void) {
    inspect { core, now in completion(ForecastBasis(core, now: now)) }
  }
}
