public import SchedulingLimits
public import TaskModel

/// What the operator decides about the runs of one plugin's identifier, besides their number at once.
public struct PluginLimits: Sendable, Hashable {
  /// How often runs may begin; nil: as often as they are due.
  public var rate: Rate?
  /// How often runs of one concurrency key may begin.
  public var ratePerKey: Rate?
  /// How many runs of one concurrency key may go on at once.
  public var runsPerKey = 1
  /// What each run takes of the host's resources, besides what its request names.
  public var resources: [String: Int] = [:]
  /// The maintenance window that requests wait for that name none.
  public var window: String?
  /// How much run time it has in a period; nil: no quota.
  public var quota: RunQuota?

  /// The shortest interval at which a submitted request may repeat; nil: the host's.
  public var minimumInterval: Duration?
  /// What its runs do when a condition is lost and their request does not say; nil: they stop.
  public var onLostCondition: LostConditionPolicy?
  /// For its requests that say nothing about retries; nil: the host's.
  public var retry: RetryPolicy?

  /// Whether any of it may hold a run that names no key and no window.
  var holdsRuns: Bool { rate != nil || quota != nil || !resources.isEmpty }

  /// No limits but one run a key.
  public init() {}
}
