import TaskModel
import Testing

@testable import TaskHost

extension ConfigurationKeyTests {
  /// A value for each key that a command has as a plugin has it. What the key does is proved for plugins.
  private static let shared: [String: String] = [
    "budget": "budget = \"2h\"", "grace": "grace = \"7s\"", "max_concurrent_runs": "max_concurrent_runs = 3",
    "minimum_interval": "minimum_interval = \"1h\"", "schedule": "schedule = \"every 1h\"",
    "wake": "schedule = \"every 1h\"\nwake = true", "jitter": "schedule = \"every 1h\"\njitter = \"10m\"",
    "prefer": "schedule = \"every 1h\"\nprefer = \"eu-west\"",
    "requires": "schedule = \"every 1h\"\nrequires = [\"network\"]", "on_lost_condition": "on_lost_condition = \"finish\"",
    "window": "window = \"night\"", "rate_limit": "rate_limit = \"1/10s\"", "rate_limit_per_key": "rate_limit_per_key = \"1/10s\"",
    "runs_per_key": "runs_per_key = 2", "fair_by": "fair_by = \"payload.tenant\"", "resources": "resources = { gpu = 2 }",
    "quota": "quota = \"10s/1h\"",
    "retry.attempts": "retry = { attempts = 2 }", "retry.backoff": "retry = { backoff = \"linear\" }",
    "retry.initial": "retry = { initial = \"10s\" }", "retry.maximum": "retry = { maximum = \"31s\" }",
    "limits.memory": "limits = { memory = \"1GiB\" }", "limits.processes": "limits = { processes = 9 }\nentitlements = {}",
    "limits.cpu.share": "limits = { cpu = { share = 20 } }\nentitlements = {}",
    "limits.cpu.quota": "limits = { cpu = { quota = \"50%\" } }\nentitlements = {}",
    "limits.descriptors": "limits = { descriptors = 99 }", "entitlements.read": "entitlements = { read = [\"/srv\"] }",
    "entitlements.write": "entitlements = { write = [\"/srv\"] }", "entitlements.network": "entitlements = { network = \"connect\" }",
    "expect_within": "expect_within = \"26h\"", "start_within": "start_within = \"5m\"",
    "entitlements.exec": "entitlements = { exec = true }", "ping": "ping = \"https://hc-ping.com/x\"",
  ]

  /// Keys of `[command."ID"]`: its own, which a process takes, and those of a plugin.
  static let commandProofs: [String: KeyProof] = [
    "command.*.run": .endToEnd(
      "ConfiguredCommandTests", "run starts a program without a shell, the payload is its input, and its lines are the run's log"),
    "command.*.shell": .endToEnd("ConfiguredCommandTests", environmentTest),
    "command.*.directory": .endToEnd("ConfiguredCommandTests", environmentTest),
    "command.*.environment": .endToEnd("ConfiguredCommandTests", environmentTest),
    "command.*.user": .endToEnd("ConfiguredCommandTests", "user runs a command as another user"),
    "command.*.exit_codes": .endToEnd(
      "ConfiguredCommandTests", "exit codes become results: 0 success, 75 retry, others failure, and exit_codes changes that"),
    "command.*.stdout": .endToEnd(
      "ConfiguredCommandTests", #"stdout = \"output\" makes what it prints the run's output, cut at the limit"#),
    "command.*.scope": .endToEnd("FleetTests", "any host submits, any host runs, and each request runs once"),
    "command.*.persistent": .endToEnd(
      "PersistentCommandTests", "a process is kept between runs, counts them, and gets the request's id, attempt and payload"),
    "command.*.idle_time": .endToEnd(
      "PersistentCommandTests", "idle_time ends a process without a run, and a shutdown ends those that wait, by the end of their input"),
  ].merging(
    shared.map { key, text in
      ("command.*.\(key)", .here { () throws in try proveAsForPlugin(text) })
    }
  ) { first, _ in first }

  private static let environmentTest =
    "shell runs a line, in directory, with the environment that is configured and none of the host's own"

  /// Expects that the table's text means to a command what it means to a plugin, and means something.
  private static func proveAsForPlugin(_ text: String) throws {
    let common = "[windows.night]\nfrom = \"02:00\"\nto = \"05:00\"\n[resources]\ngpu = 3\n"
    func read(_ table: String, _ keys: String = "") throws -> PluginConfiguration {
      try HostConfiguration.parse("\(common)[\(table).x]\n\(keys)\(text)\n", file: "/etc/taskhost/taskhost.toml").plugin("x")
    }
    var plugin = try read("plugin")
    let command = try read("command", "run = [\"true\"]\n")
    #expect(plugin != PluginConfiguration())
    plugin.file = command.file
    plugin.isolation = text.contains("entitlements") ? .process : .thread
    plugin.settings = command.settings
    plugin.maxConcurrentRuns = plugin.maxConcurrentRuns ?? 1
    plugin.entitlements.exec = plugin.entitlements.exec || text.contains("entitlements")
    #expect(command == plugin)
  }
}
