import CalendarTime
import FoundationEssentials
import SchedulingLimits
import TaskModel
import TaskScheduler

/// The operator's limits for one identifier.
public struct TestLimits: Sendable {
  /// How often runs may begin, in the configuration's notation: `"6/1m"`. `nil`: no limit.
  public var rate: String?
  /// The run time in a period, in the configuration's notation: `"10m/1d"`. `nil`: that of ``TestHostOptions/profile``.
  public var quota: String?
  /// The maintenance window, one of ``TestHostOptions/windows``, for requests that name none.
  public var window: String?
  /// The most runs of one concurrency key at once. Default: 1.
  public var runsPerKey = 1
  /// How many tokens of ``TestHostOptions/resources`` each run takes.
  public var resources: [String: Int] = [:]

  /// Creates limits of one run for each concurrency key and nothing else.
  public init() {}
}

/// A set of limits for what the operator does not limit.
public enum TestProfile: Sendable, CaseIterable {
  /// Nothing is limited.
  case server
  /// As a phone limits its apps: run time by behaviour, few wake-ups by events, idle stages.
  case phone

  var profile: ThrottlingProfile {
    switch self {
    case .server: .server
    case .phone: .phone
    }
  }
}

/// How deep a machine rests that is idle on battery.
public enum TestIdleStage: Sendable, CaseIterable {
  /// It has rested for 5 minutes. A window of one minute opens after 5 minutes, then after 10, then every 15.
  case lightIdle
  /// It has rested for an hour. A window of 5 minutes opens after an hour, then windows of 10 minutes after 2 h, 4 h, then every 6 h.
  case deepIdle
}

/// A maintenance window.
public struct TestWindow: Sendable {
  /// When it opens, such as `"22:00"`.
  public var from: String
  /// When it closes, such as `"06:00"`; on the next day if that is before `from`.
  public var to: String
  /// The days on which it opens, such as `"mon"`; empty: every day.
  public var days: [String]
  /// The IANA name of the time zone.
  public var timeZone: String

  /// Creates a window for every day or for some days.
  public init(from: String, to: String, days: [String] = [], timeZone: String = "UTC") {
    self.from = from
    self.to = to
    self.days = days
    self.timeZone = timeZone
  }
}

extension WallTime {
  /// Rounds to the nearest millisecond.
  init(_ date: Date) { self.init(unixMilliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded())) }
}

extension TestHostOptions {
  var startTime: WallTime { WallTime(start) }

  var idleStages: IdleStages? { profile.profile.hasIdleStages ? IdleStages() : nil }

  func policy() throws(TestHostError) -> SchedulingPolicy {
    var policy = SchedulingPolicy(
      maxConcurrentRuns: maxConcurrentRuns, minimumInterval: minimumInterval,
      retry: RetryPolicy(attempts: attempts, initial: initialBackoff))
    policy.parksUnregistered = true
    policy.idleStages = idleStages
    policy.resources = resources
    do {
      for (name, window) in windows {
        policy.windows[name] = try MaintenanceWindow(
          from: window.from, to: window.to, days: window.days, zone: try ZoneDirectory().rules(of: window.timeZone))
      }
      for (identifier, limits) in limits {
        var own = PluginLimits()
        own.rate = try limits.rate.map { text throws(LimitSyntaxError) in try Rate(text) }
        own.quota = try limits.quota.map { text throws(LimitSyntaxError) in try RunQuota(text) }
        own.window = limits.window
        own.runsPerKey = limits.runsPerKey
        own.resources = limits.resources
        policy.limits[try TaskIdentifier(identifier)] = own
      }
    } catch { throw TestHostError.notPossible("invalid options of the test host: \(error)") }
    policy.fill(from: profile.profile)
    return policy
  }
}
