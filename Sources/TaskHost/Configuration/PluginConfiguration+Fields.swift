import TaskModel
import TaskScheduler

// The keys of `[plugin."ID"]`, as those of the host in `HostConfiguration+Fields.swift`.

extension PluginConfiguration {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("file", optional: \.file, .pluginFileName),
      TOMLField("isolation", \.isolation, .choice()),
      TOMLField("budget", optional: \.budget, .duration(.milliseconds(1) ... .days(30))),
      TOMLField("grace", optional: \.grace, .duration(.zero ... .seconds(3600))),
      TOMLField("max_concurrent_runs", optional: \.maxConcurrentRuns, .integer(1...10_000)),
      TOMLField("minimum_interval", optional: \.scheduling.minimumInterval, .duration(.seconds(1) ... .days(366))),
      TOMLField("may_submit", \.maySubmit, .list(.pattern)),
      TOMLField("may_notify", \.mayNotify, .list(.event)),
      TOMLField("may_transfer", \.mayTransfer, .bool),
      TOMLField("may_wake", \.mayWake, .bool),
      TOMLField("environment", \.environment, .list(.variableName)),
      TOMLField("limits", \.limits, table: Limits.fields),
      TOMLField("entitlements", \.entitlements, table: Entitlements.fields),
      TOMLField("settings", \.settings, .json),
      TOMLField("ping", optional: \.ping, .webURL),
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
      TOMLField("memory", \.memory, .byteCount((16 << 20)...(16 << 40))),
      TOMLField("processes", \.processes, .integer(1...65_536)),
      TOMLField("descriptors", \.descriptors, .integer(16...1_048_576)),
    ]
  }
}

extension PluginConfiguration.Entitlements {
  static var fields: [TOMLField<Self>] {
    [
      TOMLField("read", \.read, .list(.path)),
      TOMLField("write", \.write, .list(.path)),
      TOMLField("network", \.network, .network),
      TOMLField("exec", \.exec, .bool),
    ]
  }
}
