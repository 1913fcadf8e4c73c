import RecordJSON
import Testing

@testable import TaskHost

@Suite("What a configuration changes") struct ConfiguredValueTests {
  private static func parse(_ text: String) throws -> HostConfiguration {
    try HostConfiguration.parse(text, file: "/etc/taskhost/taskhost.toml")
  }

  private static let text = """
    max_pending = 5
    permitted_identifiers = ["a.*", "b"]
    redact = ["*.token"]
    rate_limit = "100/1m"
    resources = { "the disk" = 2, net = 1 }
    conditions.battery_low = "5%"
    conditions.idle_load = 0.25
    windows.night.from = "01:00"
    windows.night.to = "05:00"
    windows.night.days = ["sat"]
    events.push.listen = "unix:/run/push.sock"
    events.push.group = "ops"
    plugin."a.b".schedule = "cron 0 8 * * * Europe/Berlin"
    plugin."a.b".requires = ["network", "idle"]
    plugin."a.b".quota = { active = "1h/1d", working = "30m/1d", frequent = "10m/1d", rare = "5m/1d", restricted = "1m/1d" }
    plugin."a.b".limits.memory = "1GiB"
    plugin."a.b".entitlements.network = [443, 80]
    plugin."a.b".window = "night"
    plugin."a.b".prefer = "eu-west"
    plugin."a.c".schedule = "on push after 10s"
    plugin."a.c".quota = "none"
    command.b.run = ["ls", "-l", "a \\"quoted\\" word"]
    command.b.exit_codes = { 3 = "noop", other = "retry" }
    command.b.fair_by = "payload.tenant"
    schedule."a.b/weekly".every = "7d"
    schedule."a.b/weekly".priority = -3

    """

  @Test("is written so that it is read again as the same")
  func again() throws {
    let first = try Self.parse(Self.text)
    let values = first.settings(hidingSecrets: false)
    let written = values.map { "\($0.key) = \($0.value ?? "")\n" }.joined()
    let second = try Self.parse(written)
    #expect(second == first, "\(written)")
    #expect(values.count == Self.text.split(separator: "\n").count, "\(written)")
  }

  @Test("does not name what is as by default, nor what the host makes of it")
  func defaults() throws {
    #expect(try Self.parse("max_pending = 10000\n[plugin.\"a\"]\nisolation = \"process\"\n").settings() == [])
    let mail = try Self.parse("[[notify]]\non = [\"failed\"]\nmail = \"a@example.org\"\n").settings().map(\.key)
    #expect(mail == ["notify[0].on", "notify[0].mail"], "the command that delivers is the host's own")
    // The socket follows the state directory.
    #expect(try Self.parse("state_directory = \"/srv/s\"\n").settings().map(\.key) == ["state_directory"])
  }

  @Test("tells no secret")
  func secrets() throws {
    let configuration = try Self.parse(
      """
      traces.endpoint = "https://collector.example.org/xSECRETx"
      [[notify]]
      on = ["failed"]
      url = "https://hooks.example.org/xSECRETx"
      [plugin."a"]
      ping = "https://hc.example.org/xSECRETx"
      schedule = "every 1h"
      [plugin."a".settings]
      key = "xSECRETx"
      [command.b]
      run = ["true"]
      environment = ["LANG", "KEY=xSECRETx"]
      [schedule."a/b"]
      every = "1h"
      payload = { key = "xSECRETx" }
      """)
    let values = configuration.settings()
    #expect(!values.contains { "\($0)".contains("xSECRETx") }, "\(values)")
    let hidden = values.filter(\.isHidden).map(\.key)
    #expect(
      hidden == [
        "traces.endpoint", "notify[0].url", "plugin.a.settings", "plugin.a.ping", "command.b.environment", "schedule.\"a/b\".payload",
      ])
    #expect(configuration.settings(hidingSecrets: false).count { "\($0)".contains("xSECRETx") } == 6)
  }

  @Test("compared with what a host has loaded: changed, added, removed and hidden keys, each by what it is about")
  func changes() throws {
    let loaded = try Self.parse(
      "max_pending = 5\ndrain_timeout = \"1m\"\n[plugin.a]\nschedule = \"every 1h\"\nping = \"https://x.example.org/1\"\n")
    let wanted = try Self.parse(
      "max_pending = 6\n[plugin.a]\nschedule = \"every 2h\"\nping = \"https://x.example.org/2\"\n[plugin.b]\nmay_transfer = true\n")
    let changes = ConfigurationChange.all(from: LoadedConfiguration(file: nil, values: loaded.settings()), to: wanted)
    #expect(changes.map(\.key) == ["drain_timeout", "max_pending", "plugin.a.ping", "plugin.a.schedule", "plugin.b.may_transfer"])
    #expect(changes.map(\.subject) == [.host, .host, .receivers, .schedules, .plugins])
    #expect(changes.map(\.before) == ["\"1m\"", "5", "\"•••\"", "\"every 1h\"", "false"])
    #expect(changes.map(\.after) == ["\"30s\"", "6", "\"•••\"", "\"every 2h\"", "true"])
    #expect(changes.filter(\.isUncertain).map(\.key) == ["plugin.a.ping"])
    let same = ConfigurationChange.all(from: LoadedConfiguration(file: nil, values: wanted.settings()), to: wanted)
    #expect(same.map(\.key) == ["plugin.a.ping"])
  }
}
