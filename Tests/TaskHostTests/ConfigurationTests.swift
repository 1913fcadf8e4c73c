import Logging
import Glibc
import TaskModel
import Testing

@testable import TaskHost

@Suite("Configuration") struct ConfigurationTests {
  private func parse(_ text: String) throws(ConfigurationError) -> HostConfiguration {
    try HostConfiguration.parse(text, file: "/etc/taskhost/taskhost.toml")
  }

  @Test("an empty file gives the defaults, relative to the file")
  func empty() throws {
    var expected = HostConfiguration(directory: "/etc/taskhost")
    expected.file = "/etc/taskhost/taskhost.toml"
    #expect(try parse("") == expected)
    #expect(try parse("# nothing\n\n[log]\n") == expected)
  }

  @Test("the defaults are those of the documentation")
  func defaults() {
    let configuration = HostConfiguration(directory: "/home/user")
    #expect(configuration.pluginDirectories == ["/home/user/plugins"])
    #expect(configuration.stateDirectory == "/home/user/state")
    #expect(configuration.control == .init(socket: "/home/user/state/control.sock", mode: 0o600, group: nil, listen: nil, tokenFile: nil))
    #expect(configuration.permittedIdentifiers == nil)
    #expect(configuration.maxConcurrentRuns == 16)
    #expect(configuration.maxPending == 10_000)
    #expect(configuration.minimumInterval == .seconds(900))
    #expect(configuration.overdueAfter == .seconds(3600) && configuration.storeMark == nil)
    #expect(configuration.launchBudget == .seconds(5))
    #expect(configuration.drainTimeout == .seconds(30))
    #expect(!configuration.requireSignatures && !configuration.requireSandbox)
    #expect(configuration.log == .init(level: .info, format: .auto))
    #expect(configuration.history == .init(keep: .seconds(604_800), runs: 100_000))
    #expect(configuration.retry == .init(attempts: 5, backoff: .exponential, initial: .seconds(30), maximum: .seconds(18_000)))
    #expect(configuration.plugins.isEmpty && configuration.trustedKeys.isEmpty && configuration.meteredInterfaces.isEmpty)
    let plugin = configuration.plugin("any")
    #expect(plugin == PluginConfiguration())
    #expect(plugin.isolation == .process && plugin.settings == "{}" && plugin.budget == nil)
    #expect(plugin.limits == .init(memory: 268_435_456, processes: 32, descriptors: 256))
    #expect(plugin.entitlements == .init(read: [], write: [], network: .none, exec: false))
  }

  @Test("without a file the working directory counts")
  func withoutFile() throws {
    let current = try #require(getcwd(nil, 0))
    defer { free(current) }
    #expect(HostConfiguration.defaults() == HostConfiguration(directory: String(cString: current)))
  }

  @Test("every key is read")
  func complete() throws {
    let configuration = try parse(Self.complete)
    #expect(configuration.pluginDirectories == ["/etc/taskhost/a", "/opt/b"])
    #expect(configuration.stateDirectory == "/var/lib/taskhost")
    #expect(configuration.permittedIdentifiers?.map(\.description) == ["org.taskhost.*", "com.vendor.sync"])
    #expect(configuration.maxConcurrentRuns == 4)
    #expect(configuration.maxPending == 50)
    #expect(configuration.minimumInterval == .seconds(60))
    #expect(configuration.launchBudget == .milliseconds(500))
    #expect(configuration.drainTimeout == .zero)
    #expect(configuration.requireSignatures)
    #expect(configuration.requireSandbox)
    #expect(configuration.meteredInterfaces == ["wwan0"])
    #expect(configuration.control.socket == "/run/taskhost.sock")
    #expect(configuration.control.mode == 0o660)
    #expect(configuration.control.group == "adm")
    #expect(configuration.control.listen?.description == "[::1]:7411")
    #expect(configuration.control.tokenFile == "/etc/taskhost/tokens")
    #expect(configuration.log == .init(level: .debug, format: .json))
    #expect(configuration.history == .init(keep: .seconds(3 * 86_400), runs: 10))
    #expect(configuration.retry == .init(attempts: 2, backoff: .linear, initial: .seconds(1), maximum: .seconds(5400)))
    #expect(configuration.trustedKeys.map(\.file) == ["/etc/taskhost/keys/vendor.pub", "/keys/own.pub"])
    #expect(configuration.trustedKeys.map { $0.identifiers.map(\.description) } == [["com.vendor.*"], ["*"]])
    let plugin = try #require(configuration.plugins["org.taskhost.token-refresh"])
    #expect(plugin.file == "libTokenRefresh.so")
    #expect(plugin.isolation == .process)
    #expect(plugin.budget == .seconds(30))
    #expect(plugin.grace == .seconds(5))
    #expect(plugin.maxConcurrentRuns == 2)
    #expect(plugin.schedule == RepeatRule(every: .seconds(21_600)))
    #expect(plugin.requires == [.network, .batteryNotLow])
    #expect(plugin.maySubmit.map(\.description) == ["com.vendor.*"])
    #expect(plugin.mayNotify.map(\.description) == ["signed-in", "com.vendor.*"])
    #expect(plugin.environment == ["OAUTH_CLIENT_SECRET"])
    #expect(plugin.limits == .init(memory: 1_000_000_000, processes: 3, descriptors: 64))
    #expect(plugin.entitlements == .init(read: ["/etc/taskhost/data"], write: ["/srv"], network: .ports([443, 8443]), exec: true))
  }

  @Test("the example of the documentation is valid")
  func example() throws {
    let configuration = try parse(Self.example)
    #expect(try configuration.permits(TaskIdentifier("org.taskhost.cleanup")))
    #expect(try !configuration.permits(TaskIdentifier("org.other")))
    #expect(configuration.control.listen == nil && configuration.control.group == nil && configuration.control.tokenFile == nil)
  }

  @Test("settings become JSON with sorted keys, dates as RFC 3339")
  func settings() throws {
    let text = """
      [plugin."a".settings]
      zeta = "quote \\" slash \\\\ line \\n é \\u0001"
      alpha = [1, -2.5, true, [], {b = 1, a = 2}]
      date = 2024-02-03
      time = 07:32:00.25
      local = 2024-02-03T07:32:00
      utc = 2024-02-03 07:32:00Z
      zoned = 2024-02-03T07:32:00.999-05:30
      [plugin."a".settings.nested."dotted.key"]
      value = 9223372036854775807
      """
    let expected =
      #"{"alpha":[1,-2.5,true,[],{"a":2,"b":1}],"date":"2024-02-03","local":"2024-02-03T07:32:00","#
      + #""nested":{"dotted.key":{"value":9223372036854775807}},"time":"07:32:00.25","utc":"2024-02-03T07:32:00Z","#
      + #""zeta":"quote \" slash \\ line \n é \u0001","zoned":"2024-02-03T07:32:00.999-05:30"}"#
    #expect(try parse(text).plugins["a"]?.settings == expected)
  }

  @Test("the socket is in the state directory unless it is set")
  func socket() throws {
    #expect(try parse("state_directory = \"/var/lib/t\"").control.socket == "/var/lib/t/control.sock")
    #expect(try parse("state_directory = \"/var/lib/t\"\ncontrol.socket = \"c\"").control.socket == "/etc/taskhost/c")
  }

  @Test("a file is read from disk, with paths relative to it")
  func load() throws {
    var template = Array("/tmp/taskhost-configuration-XXXXXX".utf8CString)
    let directory = try #require(
      template.withUnsafeMutableBufferPointer { buffer in buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) } })
    let path = directory + "/taskhost.toml"
    defer {
      unlink(path)
      rmdir(directory)
    }
    let file = try #require(fopen(path, "w"))
    fputs("plugin_directories = [\"p\"]\n", file)
    fclose(file)
    let configuration = try HostConfiguration.load(file: path)
    #expect(configuration.pluginDirectories == [directory + "/p"])
    #expect(configuration.file == path)
  }

  private static let complete = """
    plugin_directories = ["a", "/opt/b"]
    state_directory = "/var/lib/taskhost"
    permitted_identifiers = ["org.taskhost.*", "com.vendor.sync"]
    max_concurrent_runs = 4
    max_pending = 50
    minimum_interval = "1m"
    launch_budget = "500ms"
    drain_timeout = "0s"
    require_signatures = true
    require_sandbox = true
    metered_interfaces = ["wwan0"]
    [control]
    socket = "/run/taskhost.sock"
    mode = "0660"
    group = "adm"
    listen = "[::1]:7411"
    token_file = "tokens"
    [log]
    level = "debug"
    format = "json"
    [history]
    keep = "3d"
    runs = 10
    [retry]
    attempts = 2
    backoff = "linear"
    initial = "1s"
    maximum = "1h30m"
    [[trusted_keys]]
    file = "keys/vendor.pub"
    identifiers = ["com.vendor.*"]
    [[trusted_keys]]
    file = "/keys/own.pub"
    identifiers = ["*"]
    [plugin."org.taskhost.token-refresh"]
    file = "libTokenRefresh.so"
    isolation = "process"
    budget = "30s"
    grace = "5s"
    max_concurrent_runs = 2
    schedule = "every 6h"
    requires = ["network", "battery_not_low", "network"]
    may_submit = ["com.vendor.*"]
    may_notify = ["signed-in", "com.vendor.*"]
    environment = ["OAUTH_CLIENT_SECRET"]
    limits = { memory = "1GB", processes = 3, descriptors = 64 }
    [plugin."org.taskhost.token-refresh".entitlements]
    read = ["data"]
    write = ["/srv"]
    network = [443, 8443]
    exec = true
    """

  private static let example = """
    plugin_directories = ["plugins"]
    state_directory = "state"             # database, plugin copies, per-plugin data
    permitted_identifiers = ["org.taskhost.*"]
    max_concurrent_runs = 16
    max_pending = 10000
    minimum_interval = "15m"
    launch_budget = "5s"
    drain_timeout = "30s"
    require_signatures = false
    require_sandbox = false
    metered_interfaces = []

    [control]
    socket = "state/control.sock"         # HTTP over it
    mode = "0600"
    group = ""
    listen = ""                           # "127.0.0.1:7411" adds TCP, with tokens
    token_file = ""

    [log]
    level = "info"
    format = "auto"                       # text on a terminal, else json

    [history]
    keep = "7d"
    runs = 100000

    [retry]                               # defaults for requests that say nothing
    attempts = 5
    backoff = "exponential"
    initial = "30s"
    maximum = "5h"

    [[trusted_keys]]
    file = "keys/vendor.pub"
    identifiers = ["com.vendor.*"]

    [plugin."org.taskhost.token-refresh"]
    file = "libTokenRefresh.so"           # optional; ties identifier and file before loading
    isolation = "process"
    budget = "30s"
    grace = "5s"
    max_concurrent_runs = 1
    schedule = "every 6h"                 # or "cron 0 8 * * * Europe/Berlin"
    requires = ["network"]
    may_submit = []
    environment = ["OAUTH_CLIENT_SECRET"]

    [plugin."org.taskhost.token-refresh".limits]
    memory = "256MiB"
    processes = 32
    descriptors = 256

    [plugin."org.taskhost.token-refresh".entitlements]
    read = []
    write = []
    network = "connect"                   # "none", "connect", or a list of ports
    exec = false

    [plugin."org.taskhost.token-refresh".settings]   # what configuration() gives the plugin, as JSON
    """
}
