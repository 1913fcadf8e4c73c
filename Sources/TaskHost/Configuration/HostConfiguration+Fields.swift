import TaskModel

// The keys of `taskhost.toml`: each with its name, its property and its conversion. Any other key is an error.

extension HostConfiguration {
  /// All keys, with their tables: `retry.attempts`, `plugin.*.budget`. `*` stands for a name that the operator chooses.
  static var keys: [String] { fields.flatMap(\.keys) }

  static var fields: [TOMLField<HostConfiguration>] {
    [
      TOMLField("plugin_directories", \.pluginDirectories, .list(.path)),
      TOMLField("state_directory", \.stateDirectory, .path),
      TOMLField("store_mark", optional: \.storeMark, .path),
      TOMLField("permitted_identifiers", optional: \.permittedIdentifiers, .list(.pattern)),
      TOMLField("max_concurrent_runs", \.maxConcurrentRuns, .integer(1...10_000)),
      TOMLField("max_pending", \.maxPending, .integer(1...10_000_000)),
      TOMLField("minimum_interval", \.minimumInterval, .duration(.seconds(1) ... .days(366))),
      TOMLField("launch_budget", \.launchBudget, .duration(.milliseconds(10) ... .seconds(600))),
      TOMLField("drain_timeout", \.drainTimeout, .duration(.zero ... .days(1))),
      TOMLField("overdue_after", \.overdueAfter, .duration(.seconds(1) ... .days(366))),
      TOMLField("require_signatures", \.requireSignatures, .bool),
      TOMLField("require_sandbox", \.requireSandbox, .bool),
      TOMLField("metered_interfaces", \.meteredInterfaces, .list(.interface)),
      TOMLField("redact", \.redact, .list(.redaction)),
      TOMLField("control", \.control, table: Control.fields),
      TOMLField("log", \.log, table: Log.fields),
      TOMLField("history", \.history, table: History.fields),
      TOMLField("retry", \.retry, table: RetryPolicy.fields),
      TOMLField("trusted_keys", \.trustedKeys, tables: TrustedKey.fields, required: ["file", "identifiers"]) { TrustedKey() },
      TOMLField("traces", \.traces, table: Traces.fields),
      TOMLField("notify", \.notify, tables: NotifyRule.fields, required: ["on"]) { NotifyRule() },
      TOMLField("plugin", inner: PluginConfiguration.fields.flatMap(\.keys).map { "*.\($0)" }) { root, value, path, reader in
        root.plugins = PluginConfiguration.readAll(value, at: path, reader)
      },
      TOMLField("command", inner: CommandConfiguration.fields.flatMap(\.keys).map { "*.\($0)" }) { root, value, path, reader in
        root.commands = CommandConfiguration.readAll(value, at: path, reader)
      },
      TOMLField("schedule", inner: ScheduleConfiguration.fields.flatMap(\.keys).map { "*.\($0)" }) { root, value, path, reader in
        root.schedules = ScheduleConfiguration.readAll(value, at: path, reader)
      },
    ] + schedulingFields
  }
}

extension HostConfiguration.Control {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("socket", \.socket, .path),
      TOMLField("mode", \.mode, .mode),
      TOMLField("group", \.group, .emptyIsNil(.string)),
      TOMLField("listen", \.listen, .emptyIsNil(.listenAddress)),
      TOMLField("token_file", \.tokenFile, .emptyIsNil(.path)),
      TOMLField("names", \.names, .list(.hostName)),
      TOMLField("certificate", \.certificate, .emptyIsNil(.path)),
      TOMLField("key", \.key, .emptyIsNil(.path)),
      TOMLField("plaintext", \.plaintext, .bool),
    ]
  }
}

extension HostConfiguration.Log {
  static var fields: [TOMLField<Self>] {
    [TOMLField("level", \.level, .choice()), TOMLField("format", \.format, .choice())]
  }
}

extension HostConfiguration.History {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("keep", \.keep, .duration(.seconds(60) ... .days(3660))),
      TOMLField("runs", \.runs, .integer(1...100_000_000)),
    ]
  }
}

extension RetryPolicy {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("attempts", \.attempts, .integer(Limits.attempts)),
      TOMLField("backoff", \.backoff, .choice()),
      TOMLField("initial", \.initial, .duration(Limits.retryDelays)),
      TOMLField("maximum", \.maximum, .duration(Limits.retryDelays)),
    ]
  }
}

extension HostConfiguration.TrustedKey {
  static var fields: [TOMLField<Self>] {
    [TOMLField("file", \.file, .path), TOMLField("identifiers", \.identifiers, .list(.pattern))]
  }
}
