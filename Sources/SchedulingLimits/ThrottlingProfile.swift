import TaskModel

/// Defaults for limits that a configuration does not mention.
public enum ThrottlingProfile: String, Sendable, CaseIterable {
  /// Nothing is limited.
  case server
  /// As a phone limits its apps: run time by behaviour, few wake-ups by events, idle stages.
  case phone

  /// The run time of each identifier; nil for no quota.
  ///
  /// - Source: Android 16, "Power management resource limits", limits of regular jobs by standby bucket
  ///   (https://developer.android.com/topic/performance/power/power-details): active 20 min in 1 h, working set 10 min in 4 h, frequent
  ///   10 min in 12 h, rare 10 min in 24 h, restricted 10 min once a day. Apple publishes no numbers for its budgets.
  public var quota: RunQuota? {
    switch self {
    case .server: nil
    case .phone:
      RunQuota(
        buckets: [
          .active: Self.quota(20, in: 60), .working: Self.quota(10, in: 4 * 60), .frequent: Self.quota(10, in: 12 * 60),
          .rare: Self.quota(10, in: 24 * 60), .restricted: Self.quota(10, in: 24 * 60),
        ].compactMapValues { $0 })
    }
  }

  /// How often runs of each identifier may begin; nil for no limit.
  ///
  /// - Source: Android's QuotaController, MAX_JOB_COUNT_PER_RATE_LIMITING_WINDOW 20 in RATE_LIMITING_WINDOW 1 min.
  public var rate: Rate? {
    switch self {
    case .server: nil
    case .phone: Rate(count: 20, period: .seconds(60))
    }
  }

  /// How often events may wake the requests of one identifier; nil for no limit.
  ///
  /// - Source: Apple, "Pushing background updates to your App"
  ///   (https://developer.apple.com/documentation/usernotifications/pushing-background-updates-to-your-app): no more than two or three
  ///   background notifications an hour.
  public var eventQuota: Rate? {
    switch self {
    case .server: nil
    case .phone: Rate(count: 3, period: .seconds(3600))
    }
  }

  /// Whether a machine that rests on battery has idle stages: see ``IdleStages``.
  public var hasIdleStages: Bool { self == .phone }

  private static func quota(_ minutes: Int, in period: Int) -> RunQuota? {
    RunQuota(time: .seconds(minutes * 60), period: .seconds(period * 60))
  }
}
