public import SchedulingLimits
public import TaskModel

/// The operator's limits for one plugin identifier, apart from the number of concurrent runs.
public struct PluginLimits: Sendable, Hashable {
  /// How often runs may begin; nil: no limit.
  public var rate: Rate?
  /// How often runs of one concurrency key may begin.
  public var ratePerKey: Rate?
  /// The maximum number of concurrent runs of one concurrency key.
  public var runsPerKey = 1
  /// The host resources that each run takes, in addition to those its request names.
  public var resources: [String: Int] = [:]
  /// The maintenance window for requests that name none.
  public var window: String?
  /// Its run time per period; nil: no quota.
  public var quota: RunQuota?

  /// The shortest interval of a submitted repeating request; nil: the host's.
  public var minimumInterval: Duration?
  /// What its runs do when a condition is lost, unless their request says otherwise; nil: they stop.
  public var onLostCondition: LostConditionPolicy?
  /// For requests without a retry policy; nil: the host's.
  public var retry: RetryPolicy?

  /// Whether any limit may hold a run without key and window.
  var holdsRuns: Bool { rate != nil || quota != nil || !resources.isEmpty }

  /// No limits except one run per key.
  public init() {}
}
