import TaskModel
import TaskScheduler
import WorkerProcesses

// The keys of `[plugin."ID"]`, as those of the host in `HostConfiguration+Fields.swift`.

extension PluginConfiguration {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField(
        "file", optional: \.file, .pluginFileName,
        about: "The plugin's file in a plugin directory. It ties identifier and file before anything is loaded."),
      TOMLField(
        "isolation", \.isolation, .choice(),
        about: "Where its code runs: \"process\", sandboxed, or \"thread\", in the host and trusted as the host."),
      TOMLField(
        "scope", \.scope, .choice(),
        about: "Which requests it runs: those submitted to this host (\"host\"), or those of the whole fleet (\"fleet\")."),
      TOMLField(
        "budget", optional: \.budget, .duration(.milliseconds(1) ... .days(30)),
        about: "How long a run may take. By default, as the plugin says, otherwise 30 s for a refresh and 10 min for processing."),
      TOMLField(
        "grace", optional: \.grace, .duration(.zero ... .seconds(3600)),
        about: "How long a run has to stop after its budget. By default, that of its kind."),
      TOMLField(
        "max_concurrent_runs", optional: \.maxConcurrentRuns, .integer(1...10_000),
        about: "How many runs it has at once, 1 to the host's. By default, as the plugin says, and 1 for a command."),
      TOMLField(
        "minimum_interval", optional: \.scheduling.minimumInterval, .duration(.seconds(1) ... .days(366)),
        about: "The shortest interval of its repeating requests. By default, the host's."),
      TOMLField("may_submit", \.maySubmit, .list(.pattern), about: "Identifiers of others that its runs may submit to, as patterns."),
      TOMLField("may_notify", \.mayNotify, .list(.event), about: "Events that its runs may raise besides those named after it."),
      TOMLField("may_transfer", \.mayTransfer, .bool, about: "Whether its runs may have files transferred by org.taskhost.transfers."),
      TOMLField("may_wake", \.mayWake, .bool, about: "Whether the requests that its code submits may wake the machine."),
      TOMLField("environment", \.environment, .list(.variableName), about: "The host's variables that it gets, by their names."),
      TOMLField("limits", \.limits, table: Limits.fields, about: "The limits of its process."),
      TOMLField(
        "entitlements", \.entitlements, table: Entitlements.fields,
        about: "What it may reach from its sandbox, besides its own data and the system's libraries."),
      TOMLField("settings", \.settings, .json, about: "The plugin's own settings, as it documents them."),
      TOMLField("ping", optional: \.ping, .webURL, about: "Where a monitor of schedules is told how runs go. Nowhere by default."),
    ] + schedulingFields
  }

  /// The table `plugin`: a table for each identifier.
  static func readAll(_ value: ConfigurationValue, at path: ConfigurationPath, _ reader: TOMLReader) -> [String: PluginConfiguration] {
    reader.identifiedTables(value, at: path, fields) { PluginConfiguration() }
  }
}

extension PluginConfiguration.Limits {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("memory", \.memory, .byteCount((16 << 20)...(16 << 40)), about: "Its memory."),
      TOMLField(
        "processes", \.processes, .integer(1...65_536),
        about: "Its processes and threads. Needs a control group that is delegated to the host."),
      TOMLField("descriptors", \.descriptors, .integer(16...1_048_576), about: "Its open descriptors."),
      TOMLField(
        "cpu", \.processor, table: ProcessorLimit.fields,
        about: "How much of the processors it may use, with what it starts. Needs a control group that is delegated to the host."),
    ]
  }
}

extension ProcessorLimit {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField(
        "share", optional: \.share, .integer(1...10_000),
        about: "Its weight among the plugins when processors are short. A worker without one has 100."),
      TOMLField(
        "quota", optional: \.quota, .percent(1...100_000),
        about: "What it may use at most, in percent of one processor: \"50%\", or \"200%\" for two. No limit by default."),
    ]
  }
}

extension PluginConfiguration.Entitlements {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("read", \.read, .list(.path), about: "Paths that it may read."),
      TOMLField("write", \.write, .list(.path), about: "Paths that it may read and write."),
      TOMLField("network", \.network, .network, about: "\"none\", \"connect\", or a list of TCP ports."),
      TOMLField("exec", \.exec, .bool, about: "Whether it may start programs."),
    ]
  }
}
