public import StrictText

/// A key of a configuration whose value differs from its default.
public struct ConfiguredValue: Sendable, Hashable {
  /// The key with those of its tables, as the file has it: `plugin."com.example.sync".budget`.
  public var key: String
  /// The value as the file has it; nil if there is none although the default has one.
  public var value: String?
  /// The default as the file would have it; nil if there is none.
  public var standard: String?
  /// Whether ``value`` only stands for the value, which may hold a secret.
  public var isHidden: Bool

  /// Creates a value.
  public init(key: String, value: String?, standard: String?, isHidden: Bool) {
    (self.key, self.value, self.standard, self.isHidden) = (key, value, standard, isHidden)
  }
}

/// What a host has loaded of its configuration.
public struct LoadedConfiguration: Sendable, Hashable {
  /// The file it was read from; nil for the defaults.
  public var file: String?
  /// What differs from the defaults, without secrets.
  public var values: [ConfiguredValue]

  /// Creates a configuration.
  public init(file: String?, values: [ConfiguredValue]) { (self.file, self.values) = (file, values) }
}

extension JSONWriter {
  /// The members of a loaded configuration.
  public mutating func configuration(_ configuration: LoadedConfiguration) {
    member("file", configuration.file)
    array("values", configuration.values) { $0.configuredValue($1) }
  }

  /// The members of a value.
  public mutating func configuredValue(_ value: ConfiguredValue) {
    member("key", value.key)
    member("value", value.value)
    member("default", value.standard)
    member("hidden", value.isHidden)
  }
}
