public import StrictText
public import TaskModel

/// What a reload has changed, or would.
public struct ReloadReport: Sendable, Hashable {
  /// A key of the configuration's file.
  public struct Key: Sendable, Hashable {
    /// With its tables, as the file writes them: `plugin."org.example.sync".budget`.
    public let name: String
    /// The value before, as JSON; nil if the key was not there, or is not shown.
    public let before: String?
    /// The value now, as JSON; nil if the key is not there any more, or is not shown.
    public let after: String?
    /// Whether its values may be secrets, which are not shown.
    public let isSecret: Bool

    /// Creates the change of a key.
    public init(_ name: String, before: String?, after: String?, isSecret: Bool = false) {
      (self.name, self.isSecret) = (name, isSecret)
      (self.before, self.after) = isSecret ? (nil, nil) : (before, after)
    }
  }

  /// A plugin or a command.
  public struct Plugin: Sendable, Hashable {
    /// What became of it. The raw values are part of the control API.
    public enum Fate: String, Sendable, CaseIterable {
      /// It was not there before.
      case added
      /// Its file has another content.
      case replaced
      /// Its file is the same; its settings, limits or entitlements are not, so it was launched anew.
      case relaunched
      /// It gets no more runs.
      case removed
    }

    /// Its first identifier.
    public let identifier: TaskIdentifier
    /// Its file; of a command, its table.
    public let file: String
    /// What became of it.
    public let fate: Fate
    /// What it may do now and could not before, a sentence each.
    public let gained: [String]
    /// What it could do before and may not now, a sentence each.
    public let lost: [String]

    /// Creates the change of a plugin.
    public init(_ identifier: TaskIdentifier, file: String, _ fate: Fate, gained: [String], lost: [String]) {
      (self.identifier, self.file, self.fate, self.gained, self.lost) = (identifier, file, fate, gained, lost)
    }
  }

  /// Keys that a report names at most.
  public static let mostKeys = 500

  /// Whether nothing was changed, because only that was asked.
  public var isDry: Bool
  /// The changed keys in the order of their names, at most ``mostKeys``.
  public private(set) var keys: [Key]
  /// How many more have changed.
  public private(set) var omittedKeys: Int
  /// The changed plugins and commands, in the order of their identifiers.
  public var plugins: [Plugin]
  /// The plugins that wait for approval.
  public var held: [PendingApproval] = []
  /// What else somebody should know, a sentence each.
  public var notes: [String] = []

  /// Creates a report.
  public init(isDry: Bool, keys: [Key], plugins: [Plugin] = []) {
    self.isDry = isDry
    self.keys = Array(keys.prefix(Self.mostKeys))
    omittedKeys = max(0, keys.count - Self.mostKeys)
    self.plugins = plugins
  }

  /// How much has changed, for people: `3 keys and 1 plugin`; nil for nothing.
  public var count: String? {
    let keys = keys.count + omittedKeys
    let parts = [
      keys == 0 ? nil : keys == 1 ? "1 key" : "\(keys) keys",
      plugins.isEmpty ? nil : plugins.count == 1 ? "1 plugin" : "\(plugins.count) plugins",
    ].compactMap(\.self)
    return parts.isEmpty ? nil : parts.joined(separator: " and ")
  }
}

extension JSONWriter {
  /// What a reload has changed, or would.
  public mutating func reload(_ report: ReloadReport) {
    member("dry_run", report.isDry)
    array("keys", report.keys) { writer, key in
      writer.member("key", key.name)
      writer.member("before", key.before)
      writer.member("after", key.after)
      if key.isSecret { writer.member("secret", true) }
    }
    member("omitted_keys", report.omittedKeys)
    array("plugins", report.plugins) { writer, plugin in
      writer.member("identifier", plugin.identifier.rawValue)
      writer.member("file", plugin.file)
      writer.member("change", plugin.fate.rawValue)
      writer.member("gained", plugin.gained)
      writer.member("lost", plugin.lost)
    }
    array("held", report.held) { $0.approval($1) }
    member("notes", report.notes)
  }

  /// What waits for approval.
  public mutating func approval(_ approval: PendingApproval) {
    member("identifier", approval.identifier.rawValue)
    member("file", approval.file)
    member("gained", approval.gained)
    member("lost", approval.lost)
    member("asks", approval.asks)
    member("running", approval.isRunning)
    member("fingerprint", approval.fingerprint)
  }
}
