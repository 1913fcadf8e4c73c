import StrictText
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
      TOMLField("environment", \.environment, .list(.variableName)),
      TOMLField("limits", \.limits, table: Limits.fields),
      TOMLField("entitlements", \.entitlements, table: Entitlements.fields),
      TOMLField("settings", \.settings, .json),
    ] + schedulingFields
  }

  /// The table `plugin`: a table for each identifier.
  static func readAll(_ value: ConfigurationValue, at path: ConfigurationPath, _ reader: TOMLReader) -> [String: PluginConfiguration] {
    guard let tables = reader.table(value, at: path) else { return [:] }
    let names = fields.map(\.name)
    var plugins: [String: PluginConfiguration] = [:]
    for (identifier, value) in tables.sorted(by: { $0.key < $1.key }) {
      let path = path.appending(identifier)
      // [plugin.org.example.sync] without quotes is a table org with a table example with a table sync.
      if case .table(let inner) = value, let (key, _) = inner.first(where: { !names.contains($0.key) && $0.value.isTable }),
        NearestName.nearest(to: key, among: names) == nil
      {
        reader.report(path, "an identifier with dots stands in quotes: [plugin.\"\(identifier).\(key)…\"]")
        continue
      }
      if (try? TaskIdentifier(identifier)) == nil {
        reader.report(path, "\"\(identifier)\" is no identifier: 1 to 128 of A-Z a-z 0-9 . _ -, the first a letter or digit")
      }
      guard let table = reader.table(value, at: path) else { continue }
      var plugin = PluginConfiguration()
      reader.read(table, fields, into: &plugin, at: path)
      plugins[identifier] = plugin
    }
    return plugins
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
