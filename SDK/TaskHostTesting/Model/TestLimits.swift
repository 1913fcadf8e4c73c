import CalendarTime
import FoundationEssentials
import SchedulingLimits
import TaskModel
import TaskScheduler

/// What an operator limits for one identifier.
public struct TestLimits: Sendable {
  /// How often runs may begin, as the configuration writes it: `"6/1m"`. `nil`: as often as they are due.
  public var rate: String?
  /// How much run time it has in a period, as the configuration writes it: `"10m/1d"`. `nil`: no quota.
  public var quota: String?
  /// The maintenance window that its requests wait for that name none, one of ``TestHostOptions/windows``.
  public var window: String?
  /// How many runs of one concurrency key may go on at once. Default: 1.
  public var runsPerKey = 1
  /// How many tokens of ``TestHostOptions/resources`` each of its runs takes.
  public var resources: [String: Int] = [:]

  /// No limits but one run a key.
  public init() {}
}

/// When requests may run that wait for a maintenance window.
public struct TestWindow: Sendable {
  /// When it opens, as `"22:00"`.
  public var from: String
  /// When it closes, as `"06:00"`; before `from`: on the next day.
  public var to: String
  /// The days on which it opens, as `"mon"`; none: each day.
  public var days: [String]
  /// The IANA name of the time zone.
  public var timeZone: String

  /// A window, each day or on some days.
  public init(from: String, to: String, days: [String] = [], timeZone: String = "UTC") {
    self.from = from
    self.to = to
    self.days = days
    self.timeZone = timeZone
  }
}

extension WallTime {
  /// The nearest millisecond.
  init(_ date: Date) { self.init(unixMilliseconds: Int64((date.timeIntervalSince1970 * 1000).rounded())) }
}

extension TestHostOptions {
  var startTime: WallTime { WallTime(start) }

  /// The operator's rules for the scheduler.
  func policy() throws(TestHostError) -> SchedulingPolicy {
    var policy = SchedulingPolicy(
      maxConcurrentRuns: maxConcurrentRuns, minimumInterval: minimumInterval,
      retry: RetryPolicy(attempts: attempts, initial: initialBackoff))
    policy.parksUnregistered = true
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
    } catch { throw TestHostError.notPossible("the options of the test host: \(error)") }
    return policy
  }
}
