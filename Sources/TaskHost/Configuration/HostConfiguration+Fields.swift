import TaskModel

// The keys of `taskhost.toml`: each with its name, its property and its conversion. Any other key is an error.

extension HostConfiguration {
  /// All keys, with their tables: `retry.attempts`, `plugin.*.budget`. `*` stands for a name that the operator chooses.
  static var keys: [String] { fields.flatMap(\.keys) }

  static var fields: [TOMLField<HostConfiguration>] {
    [
      TOMLField(
        "plugin_directories", \.pluginDirectories, .list(.path),
        about: "The directories with plugins. Only their owner and root may be able to write there."),
      TOMLField(
        "state_directory", \.stateDirectory, .path,
        about: "The store of requests and runs, and the data of plugins. One host at a time uses it."),
      TOMLField(
        "store_mark", optional: \.storeMark, .path,
        about: "A file outside of the state directory that also records what is in the store, so that the host notices if the "
          + "directory was deleted. None by default."),
      TOMLField(
        "permitted_identifiers", optional: \.permittedIdentifiers, .list(.pattern),
        about: "Whose plugins may register, as patterns. By default, everybody's in the plugin directories."),
      TOMLField("max_concurrent_runs", \.maxConcurrentRuns, .integer(1...10_000), about: "How many runs the host has at once."),
      TOMLField("max_pending", \.maxPending, .integer(1...10_000_000), about: "How many requests an identifier may have pending."),
      TOMLField(
        "minimum_interval", \.minimumInterval, .duration(.seconds(1) ... .days(366)), about: "The shortest interval of repeating requests."),
      TOMLField(
        "launch_budget", \.launchBudget, .duration(.milliseconds(10) ... .seconds(600)), about: "How long a plugin's launch may take."),
      TOMLField(
        "drain_timeout", \.drainTimeout, .duration(.zero ... .days(1)), about: "How long live runs may go on when the host is stopped."),
      TOMLField(
        "overdue_after", \.overdueAfter, .duration(.seconds(1) ... .days(366)),
        about: "How long a due request may wait before it is reported as a problem."),
      TOMLField(
        "require_signatures", \.requireSignatures, .bool, about: "Whether a plugin must be signed with one of the [[trusted_keys]]."),
      TOMLField(
        "reload", \.reload, .choice(),
        about: "When changes of this file, of plugins and of keys count: \"manual\" after taskhost reload, \"auto\" by themselves."),
      TOMLField(
        "approve_entitlements", \.approveEntitlements, .bool,
        about: "Whether a plugin that may do more than was approved waits until it is approved: taskhost plugins approve."),
      TOMLField("require_sandbox", \.requireSandbox, .bool, about: "Whether the launch fails if the kernel lacks a part of the sandbox."),
      TOMLField("metered_interfaces", \.meteredInterfaces, .list(.interface), about: "Network interfaces whose traffic costs money."),
      TOMLField("redact", \.redact, .list(.redaction), about: "The members of payloads that nobody but handlers sees."),
      TOMLField("control", \.control, table: Control.fields, about: "How clients reach the host."),
      TOMLField("log", \.log, table: Log.fields, about: "What the host logs."),
      TOMLField(
        "history", \.history, table: History.fields, about: "How long runs are remembered. The limit that is reached first counts."),
      TOMLField("retry", \.retry, table: RetryPolicy.fields, about: "How requests are retried that say nothing about it."),
      TOMLField(
        "trusted_keys", \.trustedKeys, tables: TrustedKey.fields, required: ["file", "identifiers"],
        about: "A key that plugins may be signed with: taskhost plugins keygen. Both keys are required."
      ) { TrustedKey() },
      TOMLField(
        "encryption", \.encryption, table: Encryption.fields,
        about: "The keys with which payloads, outputs, logs and the plugins' values are sealed in the store. Without, they are plain."),
      TOMLField(
        "fleet", \.fleet, table: Fleet.fields,
        about: "The database that hosts share, for identifiers with scope = \"fleet\": any host that could begin a request takes it."),
      TOMLField("traces", \.traces, table: Traces.fields, about: "Where spans of submissions and runs go, for OpenTelemetry."),
      TOMLField(
        "notify", \.notify, tables: NotifyRule.fields, required: ["on"],
        about: "Whom to tell of what happens. A table has one way to tell: \"command\", \"url\", \"mail\", \"task\" or \"bus\"."
      ) { NotifyRule() },
      TOMLField(
        "plugin", named: PluginConfiguration.fields, about: "What the operator decides about one plugin, by its identifier.",
        tables: { root in root.plugins.filter { root.commands[$0.key] == nil } }, make: { PluginConfiguration() }
      ) { root, value, path, reader in
        root.plugins = PluginConfiguration.readAll(value, at: path, reader)
      },
      TOMLField(
        "command", named: CommandConfiguration.fields, about: "A program that runs as a task.",
        tables: { $0.commands.filter { !$0.value.isNotice } }, make: { CommandConfiguration() }
      ) { root, value, path, reader in
        root.commands = CommandConfiguration.readAll(value, at: path, reader)
      },
      TOMLField(
        "schedule", named: ScheduleConfiguration.fields,
        about: "A schedule besides the one in the table of a plugin or command, by the identifier and a name.",
        tables: { Dictionary($0.schedules.map { ($0.key.description, $0.value) }) { first, _ in first } },
        make: { ScheduleConfiguration() }
      ) { root, value, path, reader in
        root.schedules = ScheduleConfiguration.readAll(value, at: path, reader)
      },
    ] + schedulingFields
  }
}

extension HostConfiguration.Control {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField(
        "socket", \.socket, .path,
        about: "The socket of the command line, the dashboard and the API. By default, control.sock in the state directory."),
      TOMLField("mode", \.mode, .mode, about: "Who may use the socket, as permission bits in octal."),
      TOMLField("group", \.group, .emptyIsNil(.string), about: "The group that the socket is given to."),
      TOMLField(
        "listen", \.listen, .emptyIsNil(.listenAddress),
        about: "An address that is served besides the socket, to clients with a token. None by default."),
      TOMLField(
        "token_file", \.tokenFile, .emptyIsNil(.path), about: "The file with the tokens. By default, tokens in the state directory."),
      TOMLField("names", \.names, .list(.hostName), about: "Names with a dot that clients over TCP may call the host by."),
      TOMLField(
        "certificate", \.certificate, .emptyIsNil(.path),
        about: "The certificate with which \"listen\" speaks TLS, in PEM, followed by those of its authorities. None by default."),
      TOMLField(
        "key", \.key, .emptyIsNil(.path), about: "The private key of the certificate, in PEM. Only the host may be able to read it."),
      TOMLField(
        "plaintext", \.plaintext, .bool,
        about: "Whether \"listen\" may be an address that other machines reach, although nothing is encrypted."),
    ]
  }
}

extension HostConfiguration.Log {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("level", \.level, .choice(), about: "The least severe messages that are logged."),
      TOMLField("format", \.format, .choice(), about: "\"text\" for people, \"json\" for programs, or \"auto\": text at a terminal."),
    ]
  }
}

extension HostConfiguration.History {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("keep", \.keep, .duration(.seconds(60) ... .days(3660)), about: "The age of the oldest runs that are remembered."),
      TOMLField("runs", \.runs, .integer(1...100_000_000), about: "The number of runs that are remembered."),
    ]
  }
}

extension RetryPolicy {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("attempts", \.attempts, .integer(Limits.attempts), about: "How often a request is tried before it has failed for good."),
      TOMLField("backoff", \.backoff, .choice(), about: "How the delay grows."),
      TOMLField("initial", \.initial, .duration(Limits.retryDelays), about: "The first delay."),
      TOMLField("maximum", \.maximum, .duration(Limits.retryDelays), about: "The longest delay."),
    ]
  }
}

extension HostConfiguration.TrustedKey {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("file", \.file, .path, about: "The file with the public key."),
      TOMLField("identifiers", \.identifiers, .list(.pattern), about: "Whose plugins it may sign, as patterns."),
    ]
  }
}
