import Glibc
import SchedulingLimits
import StoreTestSupport
import TaskModel
import Testing

@testable import TaskHost
@testable import TaskScheduler

extension ConfigurationKeyTests {
  /// A plugin's table, with `text` in it.
  private static func table(_ text: String) -> String { "[plugin.\"org.example.task\"]\n\(text)\n" }

  /// Keys of `[plugin."ID"]` that decide when its runs begin and what becomes of them.
  static let pluginProofs: [String: KeyProof] = [
    "plugin.*.schedule": .here { () throws in
      let host = try ConfiguredHost(table("schedule = \"every 1h\""))
      let id = try #require(host.begun.first)
      try host.end(id)
      try host.pass(.seconds(3599))
      #expect(host.begun.count == 1)
      try host.pass(.seconds(1))
      #expect(host.begun == [id, id])
    },
    "plugin.*.jitter": .here { () throws in
      let host = try ConfiguredHost(table("schedule = \"every 1h\"\njitter = \"30m\""))
      #expect(host.begun.isEmpty)
      try host.pass(.seconds(1800))
      #expect(host.begun.count == 1)
    },
    "plugin.*.wake": .here { () throws in
      let host = try ConfiguredHost(table("schedule = \"every 1h\"\nwake = true"))
      let id = try #require(host.begun.first)
      try host.end(id)
      #expect(host.core.nextWake(now: host.now) == host.now + .seconds(3600))
    },
    "plugin.*.prefer": .here { () throws in
      let host = try ConfiguredHost(table("schedule = \"every 1h\"\nprefer = \"last_host\""))
      #expect(try host.record(try #require(host.begun.first)).request.gates.prefer == "last_host")
    },
    "plugin.*.minimum_interval": .here { () throws in
      let host = try ConfiguredHost(table("minimum_interval = \"1h\""))
      let raised = try host.submit(ConfiguredHost.task) { $0.repetition = RepeatRule(every: .seconds(1000)) }
      let kept = try host.submit(ConfiguredHost.other) { $0.repetition = RepeatRule(every: .seconds(1000)) }
      #expect(raised.effective?.repetition?.interval == .seconds(3600))
      #expect(kept.effective?.repetition?.interval == .seconds(1000))
    },
    "plugin.*.requires": .here { () throws in
      let host = try ConfiguredHost(table("schedule = \"every 1h\"\nrequires = [\"network\"]"))
      let id = try #require(host.begun.first)
      try host.end(id)
      try host.set(.power)
      try host.pass(.seconds(3600))
      #expect(!host.isRunning(id))
      try host.set(.network)
      #expect(host.isRunning(id))
    },
    "plugin.*.on_lost_condition": .here { () throws in
      let host = try ConfiguredHost(table("on_lost_condition = \"finish\"\nschedule = \"every 1h\"\nrequires = [\"network\"]"))
      let stops = try host.submit {
        $0.gates.conditions = .network
        $0.onLostCondition = .stop
      }.id
      try host.submit { $0.gates.conditions = .network }
      let others = try host.submit(ConfiguredHost.other) { $0.gates.conditions = .network }.id
      try host.set([])
      let lost = try host.core.runsThatLost(#require(host.core.conditions))
      #expect(host.begun.count == 4)
      #expect(Set(lost) == Set([stops, others].compactMap { host.orders[$0]?.run }))
    },
    "plugin.*.fair_by": .here { () throws in
      let host = try ConfiguredHost(table("fair_by = \"payload.tenant\"\nmax_concurrent_runs = 1"))
      let id = try host.submit { $0.payload = Array("{\"tenant\":\"a\"}".utf8) }.id
      #expect(try host.record(id).gates.tenant == "a")
    },
    "plugin.*.window": .here { () throws in
      let host = try ConfiguredHost(
        "[windows.night]\nfrom = \"02:00\"\nto = \"05:00\"\ntime_zone = \"UTC\"\n" + table("window = \"night\""))
      let id = try host.submit().id
      let free = try host.submit(ConfiguredHost.other).id
      #expect(host.begun == [free])
      try host.pass(.seconds(7200))
      #expect(host.isRunning(id))
    },
    "plugin.*.expect_within": .here { () throws in
      let host = try ConfiguredHost(table("expect_within = \"1h\""))
      try host.pass(.seconds(3600))
      #expect(host.core.objectives[ConfiguredHost.task]?.overdueSince == host.now)
      try host.end(host.submit().id)
      #expect(host.core.objectives[ConfiguredHost.task]?.overdueSince == nil)
    },
    "plugin.*.start_within": .here { () throws in
      let host = try ConfiguredHost(table("start_within = \"5m\""))
      try host.set([])
      let id = try host.submit { $0.gates.conditions = .network }.id
      try host.pass(.seconds(300))
      #expect(host.core.objectives[ConfiguredHost.task]?.lateSince == (host.now + .seconds(-300)))
      _ = try host.turn { core, transaction in try core.cancel(id, transaction, now: host.now) }
      #expect(host.core.objectives[ConfiguredHost.task]?.lateSince == nil)
    },
    "plugin.*.rate_limit": .here { () throws in
      let host = try ConfiguredHost(table("rate_limit = \"1/10s\""))
      for _ in 0..<2 { try host.submit() }
      try host.submit(ConfiguredHost.other)
      #expect(host.begun.count == 2)
      try host.pass(.seconds(10))
      #expect(host.begun.count == 3)
    },
    "plugin.*.rate_limit_per_key": .here { () throws in
      let host = try ConfiguredHost(table("rate_limit_per_key = \"1/10s\"\nruns_per_key = 5"))
      for key in ["a", "a", "b"] { try host.submit { $0.gates.concurrencyKey = key } }
      #expect(host.begun.count == 2)
      try host.pass(.seconds(10))
      #expect(host.begun.count == 3)
    },
    "plugin.*.runs_per_key": .here { () throws in
      let host = try ConfiguredHost(table("runs_per_key = 2"))
      for identifier in [ConfiguredHost.task, ConfiguredHost.other] {
        for _ in 0..<3 { try host.submit(identifier) { $0.gates.concurrencyKey = "a" } }
      }
      #expect(host.orders.values.count { $0.contract.identifier == ConfiguredHost.task } == 2)
      #expect(host.orders.count == 3)
    },
    "plugin.*.resources": .here { () throws in
      let host = try ConfiguredHost("[resources]\ngpu = 3\n" + table("resources = { gpu = 2 }"))
      for _ in 0..<2 { try host.submit() }
      #expect(host.begun.count == 1)
      try host.submit(ConfiguredHost.other)
      #expect(host.begun.count == 2)
    },
    "plugin.*.quota": .here { () throws in
      let host = try ConfiguredHost(table("quota = \"10s/1h\""))
      let first = try host.submit().id
      try host.pass(.seconds(12))
      try host.end(first)
      let second = try host.submit().id
      #expect(!host.isRunning(second))
      try host.pass(.seconds(3600))
      #expect(host.isRunning(second))
      // One for each bucket.
      let buckets = ["active", "working", "frequent", "rare", "restricted"]
      let quotas = buckets.enumerated().map { "\($1) = \"\($0 + 1)m/1h\"" }
      let policy = try HostConfiguration.parse(
        table("quota = { \(quotas.joined(separator: ", ")) }"), file: "/etc/t.toml"
      ).schedulingPolicy()
      let quota = try #require(policy.limits[ConfiguredHost.task]?.quota)
      #expect(BehaviourBucket.allCases.map { quota.allowance(in: $0).time } == (1...5).map { .seconds(60 * $0) })
      for wrong in ["{ active = \"1m/1h\" }", "{ \(quotas.joined(separator: ", ")), other = \"1m/1h\" }", "\"never\""] {
        #expect(throws: ConfigurationError.self) { try ConfiguredHost(table("quota = \(wrong)")) }
      }
    },
    "plugin.*.retry.attempts": .here { () throws in
      #expect(try attempts("[retry]\nattempts = 9\n" + table("retry = { attempts = 2 }")) == 2)
    },
    "plugin.*.retry.backoff": .here { () throws in
      let text = "[retry]\ninitial = \"100s\"\n" + table("retry = { backoff = \"linear\" }")
      #expect((320.0...480.0).contains(try delays(text, 4)[3]))
    },
    "plugin.*.retry.initial": .here { () throws in
      #expect((8.0...12.0).contains(try delays(table("retry = { initial = \"10s\" }"), 1)[0]))
      #expect(throws: ConfigurationError.self) { try ConfiguredHost(table("retry = { initial = \"6h\" }")) }
      // A schedule that is there follows a change of it, and other plugins do not.
      let host = try ConfiguredHost(table("schedule = \"every 1h\"\nretry = { initial = \"10s\" }"))
      let id = try #require(host.begun.first)
      #expect(try host.record(id).request.retry?.initial == .seconds(10))
      #expect(try host.record(try host.submit(ConfiguredHost.other).id).request.retry == RetryPolicy())
    },
    "plugin.*.retry.maximum": .here { () throws in
      #expect(try delays(table("retry = { maximum = \"31s\" }"), 4).allSatisfy { (24.0...31.0).contains($0) })
    },
    "plugin.*.environment": .here { () throws in
      setenv("TASKHOST_TEST_PASSED", "yes", 1)
      setenv("TASKHOST_TEST_KEPT", "no", 1)
      let configuration = try HostConfiguration.parse(table("environment = [\"TASKHOST_TEST_PASSED\"]"), file: "/etc/t.toml")
      let specs = try WorkerSpecs(configuration, stateDirectory: "/tmp", executable: "/bin/true")
      #expect(specs.circumstances(of: ConfiguredHost.task).contains("TASKHOST_TEST_PASSED=yes"))
      #expect(!specs.circumstances(of: ConfiguredHost.other).contains("TASKHOST_TEST_PASSED"))
      #expect(!specs.circumstances(of: ConfiguredHost.task).contains("TASKHOST_TEST_KEPT"))
    },
  ]
}
