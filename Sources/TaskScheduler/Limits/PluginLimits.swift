public import SchedulingLimits
public import TaskModel

/// The operator's limits for one plugin identifier, apart from the number of concurrent runs.
public struct PluginLimits: Sendable, Hashable {
  /// How often runs may begin; nil means no limit.
  public var rate: Rate?
  /// How often runs of one concurrency key may begin; nil means no limit.
  public var ratePerKey: Rate?
  /// The maximum number of concurrent runs of one concurrency key.
  public var runsPerKey = 1
  /// What tells the tenants apart between whom run time is shared fairly; nil means that requests run by priority and time alone.
  public var fairBy: FairBy?
  /// The host resources that each run takes, in addition to those its request names.
  public var resources: [String: Int] = [:]
  /// The maintenance window for requests that name none.
  public var window: String?
  /// Its run time per period; nil means no quota.
  public var quota: RunQuota?
  /// Whether it has no quota even if a profile has one.
  public var hasNoQuota = false
  /// Whether ``quota`` is that of a profile, which does not hold work that a person has started.
  private(set) var hasProfilesQuota = false

  /// How long after a success the next one is expected; nil means that nothing is.
  public var expectWithin: Duration?
  /// How long after its due time a run must begin; nil means that it does not matter.
  public var startWithin: Duration?
  /// The shortest interval of a submitted repeating request; nil means the host's.
  public var minimumInterval: Duration?
  /// What its runs do when a condition is lost, unless their request decides; nil means they stop.
  public var onLostCondition: LostConditionPolicy?
  /// The policy for requests without a retry policy; nil means the host's.
  public var retry: RetryPolicy?

  /// Fills what is not limited with the limits of a profile.
  mutating func fill(from profile: ThrottlingProfile) {
    rate = rate ?? profile.rate
    guard quota == nil, !hasNoQuota else { return }
    quota = profile.quota
    hasProfilesQuota = quota != nil
  }

  /// Whether any limit may hold a run that has no concurrency key and no window.
  var holdsRuns: Bool { rate != nil || quota != nil || !resources.isEmpty }

  /// Whether any limit counts runs that have begun or ended before.
  var needsHistory: Bool { rate != nil || quota != nil || ratePerKey != nil }

  /// Creates limits that allow one run per key and are otherwise unlimited.
  public init() {}
}
