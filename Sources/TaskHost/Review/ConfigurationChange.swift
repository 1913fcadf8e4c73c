public import RecordJSON

/// A key that a configuration has changed, compared with what a host has loaded.
public struct ConfigurationChange: Sendable, Equatable {
  /// What the change is about, for people who decide when to make it.
  public enum Subject: String, Sendable, CaseIterable {
    /// The host as a whole.
    case host
    /// How clients reach it, and event sockets.
    case access
    /// What a plugin or command may do, and how it runs.
    case plugins
    /// When something runs.
    case schedules
    /// Who is told what.
    case receivers
  }

  /// The key with those of its tables, as the file has it.
  public let key: String
  /// What it is about.
  public let subject: Subject
  /// The loaded value; nil if it has none, and no default.
  public let before: String?
  /// The value in the configuration; nil if it has none, and no default.
  public let after: String?
  /// Whether both values are hidden, so that they may be equal.
  public let isUncertain: Bool

  /// Every key whose value differs, or may differ, in the order of their names.
  public static func all(from loaded: LoadedConfiguration, to configuration: HostConfiguration) -> [Self] {
    let before = Dictionary(loaded.values.map { ($0.key, $0) }) { first, _ in first }
    let after = Dictionary(configuration.settings().map { ($0.key, $0) }) { first, _ in first }
    return Set(before.keys).union(after.keys).sorted().compactMap { key in
      let (old, new) = (before[key], after[key])
      let isUncertain = old?.isHidden == true && new?.isHidden == true
      // What one of them does not name has the default there.
      let (loaded, wanted) = (old == nil ? new?.standard : old?.value, new == nil ? old?.standard : new?.value)
      guard isUncertain || loaded != wanted || old?.isHidden != new?.isHidden && old != nil && new != nil else { return nil }
      return Self(key: key, subject: subject(of: key), before: loaded, after: wanted, isUncertain: isUncertain)
    }
  }

  private static func subject(of key: String) -> Subject {
    let table = key.prefix { $0 != "." && $0 != "[" }
    let last = key.split(separator: ".").last.map(String.init) ?? key
    switch table {
    case "control", "events": return .access
    case "notify", "traces": return .receivers
    case "schedule", "windows": return .schedules
    case "plugin", "command":
      if ["schedule", "jitter", "wake", "requires", "prefer", "window"].contains(last) { return .schedules }
      return last == "ping" ? .receivers : .plugins
    case "plugin_directories", "permitted_identifiers", "trusted_keys", "require_signatures", "require_sandbox": return .plugins
    default: return .host
    }
  }
}
