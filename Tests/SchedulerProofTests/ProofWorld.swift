import CalendarTime
import SchedulingLimits
import StoreTestSupport
import Synchronization
import TaskModel

@testable import TaskScheduler

/// The operator's rules under which a walk takes place: some of each, drawn by its seed.
enum ProofWorld {
  static let identifiers = ["org.example.one", "org.example.two", "org.example.three"].map { TaskIdentifier.sample($0) }
  /// Permitted, and never registered.
  static let absent = TaskIdentifier.sample("org.example.absent")
  /// 2026-03-28T23:00:00Z: the night in which Berlin's clocks are set forward.
  static let start = WallTime(unixMilliseconds: 1_774_738_800_000)

  static let contracts = identifiers.enumerated().map { index, identifier in
    HandlerContract(identifier: identifier, kind: .refresh, budget: .seconds(30), grace: .seconds(5), maxConcurrentRuns: index + 1)
  }

  private static let zones = Mutex<[String: TimeZoneRules]>([:])

  /// The rules of a zone, read once.
  @Sendable static func zone(_ name: String) throws(ZoneDirectory.Failure) -> TimeZoneRules {
    if let known = zones.withLock({ $0[name] }) { return known }
    let rules = try ZoneDirectory().rules(of: name)
    zones.withLock { $0[name] = rules }
    return rules
  }

  private static let windows: [String: MaintenanceWindow] = {
    guard let utc = try? zone("UTC"), let berlin = try? zone("Europe/Berlin"),
      let night = try? MaintenanceWindow(from: "01:00", to: "05:00", zone: berlin),
      let day = try? MaintenanceWindow(from: "23:30", to: "00:30", days: ["sat", "sun"], zone: utc)
    else { return [:] }
    return ["night": night, "weekend": day]
  }()

  static func policy(_ random: inout SeededGenerator) -> SchedulingPolicy {
    var policy = SchedulingPolicy(maxConcurrentRuns: Int.random(in: 2...4, using: &random), maxPending: 12, minimumInterval: .seconds(60))
    policy.timeZones = zone
    policy.permitted = (identifiers + [absent]).compactMap { try? IdentifierPattern($0.rawValue) }
    policy.claimAhead = Bool.random(using: &random) ? .milliseconds(5) : .zero
    policy.resources = ["gpu": 2, "licence": 1]
    policy.windows = windows
    func maybe(_ one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }
    if maybe(4) { policy.rate = Rate(count: 6, period: .seconds(60)) }
    if maybe(3) { policy.eventQuota = Rate(count: 2, period: .seconds(600)) }
    for identifier in identifiers where maybe(3) {
      var limits = PluginLimits()
      if maybe(2) { limits.rate = Rate(count: Int.random(in: 1...3, using: &random), period: .seconds(120)) }
      if maybe(2) { limits.ratePerKey = Rate(count: 1, period: .seconds(60)) }
      if maybe(2) { limits.runsPerKey = 2 }
      if maybe(3) { limits.resources = ["gpu": 1] }
      if maybe(4) { limits.window = "night" }
      if maybe(3) { limits.quota = RunQuota(time: .seconds(60), period: .seconds(3600)) }
      policy.limits[identifier] = limits
    }
    return policy
  }

  /// All conditions as given, observed.
  static func report(_ held: Conditions, now: WallTime) -> ConditionReport {
    ConditionReport(
      states: Conditions.named.map { name, condition in
        ConditionState(condition: condition, holds: held.contains(condition), since: now, observed: "\(name) as the test wishes")
      })
  }
}
