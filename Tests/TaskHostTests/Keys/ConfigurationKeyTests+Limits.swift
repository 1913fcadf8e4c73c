import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskHost
@testable import TaskScheduler

extension ConfigurationKeyTests {
  /// Limits of the host, and windows.
  static let limitProofs: [String: KeyProof] = [
    "max_concurrent_runs": .here { () throws in
      let host = try ConfiguredHost("max_concurrent_runs = 2")
      try host.submit()
      for _ in 0..<3 { try host.submit(ConfiguredHost.other) }
      #expect(host.begun.count == 2)
    },
    "max_pending": .here { () throws in
      let host = try ConfiguredHost("max_pending = 2")
      for _ in 0..<2 { try host.submit() }
      let refusal = #expect(throws: RequestRefusal.self) { try host.submit() }
      #expect(refusal?.code == .limit)
    },
    "rate_limit": .here { () throws in
      let host = try ConfiguredHost("rate_limit = \"2/10s\"")
      for identifier in [ConfiguredHost.task, ConfiguredHost.other] { for _ in 0..<2 { try host.submit(identifier) } }
      #expect(host.begun.count == 2)
      try host.pass(.milliseconds(9999))
      #expect(host.begun.count == 2)
      try host.pass(.milliseconds(1))
      #expect(host.begun.count == 4)
    },
    "event_quota": .here { () throws in
      let host = try ConfiguredHost("event_quota = \"1/1m\"")
      let ids = try (0..<3).map { _ in try host.submit { $0.event = EventTrigger("mail") }.id }
      _ = try host.turn { core, transaction in try core.notify("mail", payload: nil, transaction, now: host.now) }
      let due = try ids.map { try host.record($0).due }
      #expect(Set(due) == [host.now, host.now + .seconds(60), host.now + .seconds(120)])
    },
    "profile": .here { () throws in
      let table = "[plugin.\"org.example.other\"]\n"
      for (text, isHeld) in [("", false), ("profile = \"server\"", false), ("profile = \"phone\"", true)] {
        let host = try ConfiguredHost("\(text)\n\(table)quota = \"none\"")
        for identifier in [ConfiguredHost.task, ConfiguredHost.other] { try host.submit(identifier) }
        try host.pass(.seconds(1200))
        #expect(try host.isRunning(host.submit().id) != isHeld)
        #expect(try host.isRunning(host.submit(ConfiguredHost.other).id))
        try host.set(.all.subtracting(.power))
        try host.pass(.seconds(300))
        #expect(try host.isRunning(host.submit(ConfiguredHost.other).id) != isHeld)
      }
      let policy = try HostConfiguration.parse("profile = \"phone\"\nevent_quota = \"9/1h\"", file: "/etc/t.toml").schedulingPolicy()
      #expect(policy.eventQuota.map { "\($0)" } == "9/1h")
    },
    "idle.stages": .here { () throws in
      for (text, isHeld) in [("[idle]\nstages = true", true), ("profile = \"phone\"\n[idle]\nstages = false", false)] {
        let host = try ConfiguredHost(text)
        try host.set(.all.subtracting(.power))
        try host.pass(.seconds(300))
        #expect(try host.isRunning(host.submit().id) != isHeld)
      }
    },
    "idle.light_after": .here { () throws in
      #expect(try Self.rest("light_after = \"1m\"", until: .light) == .seconds(60))
    },
    "idle.deep_after": .here { () throws in
      #expect(try Self.rest("deep_after = \"10m\"", until: .deep) == .seconds(600))
      #expect(throws: ConfigurationError.self) { try ConfiguredHost("[idle]\ndeep_after = \"5m\"") }
    },
    "resources": .here { () throws in
      let host = try ConfiguredHost("[resources]\ngpu = 2")
      let ids = try (0..<3).map { _ in try host.submit { $0.gates.resources = ["gpu": 1] }.id }
      #expect(host.begun == Array(ids.prefix(2)))
      #expect(throws: RequestRefusal.self) { try host.submit { $0.gates.resources = ["gpu": 3] } }
    },
    // The tests' calendar begins on a Thursday at midnight, in UTC.
    "windows.*.from": .here { () throws in
      #expect(try Self.opening("from = \"02:00\"\nto = \"05:00\"\ntime_zone = \"UTC\"") == .seconds(7200))
    },
    "windows.*.to": .here { () throws in
      #expect(try Self.opening("from = \"23:00\"\nto = \"00:30\"\ntime_zone = \"UTC\"") == .zero)
      #expect(try Self.opening("from = \"23:00\"\nto = \"23:30\"\ntime_zone = \"UTC\"") == .seconds(23 * 3600))
    },
    "windows.*.days": .here { () throws in
      #expect(
        try Self.opening("from = \"02:00\"\nto = \"05:00\"\ndays = [\"sat\"]\ntime_zone = \"UTC\"") == .seconds(2 * 86_400 + 7200))
    },
    "windows.*.time_zone": .here { () throws in
      #expect(try Self.opening("from = \"02:00\"\nto = \"05:00\"\ntime_zone = \"Europe/Berlin\"") == .seconds(3600))
    },
  ]

  /// How long a machine has rested when the stage begins.
  private static func rest(_ keys: String, until stage: IdleStages.Stage) throws -> Duration {
    let host = try ConfiguredHost("[idle]\nstages = true\n\(keys)")
    try host.set(.all.subtracting(.power))
    let begin = host.now
    let handler = try #require(host.core.handlers[ConfiguredHost.task])
    let lane = LaneState(gates: RunConstraints())
    for _ in 0..<7200 where host.core.idleState(for: lane, of: handler, now: host.now)?.stage != stage { host.now = host.now + .seconds(1) }
    return host.now - begin
  }

  /// How long a request waits that names the window.
  private static func opening(_ window: String) throws -> Duration {
    let host = try ConfiguredHost("[windows.night]\n\(window)")
    let id = try host.submit { $0.gates.window = "night" }.id
    guard !host.isRunning(id) else { return .zero }
    let next = try #require(host.core.nextStart(now: host.now))
    try host.pass(next - host.now + .milliseconds(-1))
    #expect(!host.isRunning(id))
    try host.pass(.milliseconds(1))
    #expect(host.isRunning(id))
    return next - .testStart
  }
}
