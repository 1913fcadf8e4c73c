public import RecordJSON
import TaskModel

/// A key of the configuration, for people who look it up: `taskhost config reference`.
public struct ConfigurationKey: Sendable, Equatable {
  /// With those of its tables: `plugin.*.budget`. `*` stands for a name that the operator chooses.
  public let key: String
  /// What a value is, in a few words: `duration, 1s to 366d`; `table` for a table.
  public let type: String
  /// The default as the file has it; nil if there is none, as for a table.
  public let standard: String?
  /// What it means: one or more sentences.
  public let about: String
  /// Whether it is a table, whose keys follow.
  public let isTable: Bool
}

extension HostConfiguration {
  /// Stands for the directory that paths are relative to.
  private static let anywhere = "/the-directory-of-the-file"

  /// Every key, after its table, in the order of the reader's own table.
  public static var reference: [ConfigurationKey] {
    let standard = HostConfiguration(directory: anywhere)
    return fields.flatMap { $0.items(standard, .reference) }.map { item in
      ConfigurationKey(
        key: item.key, type: item.type, standard: item.value?.replacing("\"\(anywhere)/", with: "\""), about: item.about,
        isTable: item.isTable)
    }
  }

  /// What differs from the defaults, in the order of the reference.
  ///
  /// - Parameter hidesSecrets: Whether a value that may hold a secret is replaced.
  public func settings(hidingSecrets hidesSecrets: Bool = true) -> [ConfiguredValue] {
    let standard = defaultsHere
    let defaults = Dictionary(
      Self.fields.flatMap { $0.items(standard, .reference) }.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
    return Self.fields.flatMap { $0.items(self, .values) }.filter { $0.value != defaults[$0.key] ?? nil }.map { item in
      ConfiguredValue(
        key: item.path.description, value: hidesSecrets ? item.shown : item.value, standard: defaults[item.key] ?? nil,
        isHidden: hidesSecrets && item.isSecret)
    }
  }

  /// The defaults in this configuration's directory, and what follows from its keys.
  private var defaultsHere: HostConfiguration {
    let slash = file?.lastIndex(of: "/")
    let directory = slash.flatMap { slash in file.map { String($0[..<slash]) } } ?? ConfigurationFile.workingDirectory()
    var standard = HostConfiguration(directory: directory.isEmpty ? "/" : directory)
    standard.control.socket = ConfigurationFile.resolve("control.sock", in: stateDirectory)
    // Where there are commands, a missing directory of plugins is left out.
    if !commands.isEmpty, pluginDirectories.isEmpty { standard.pluginDirectories = [] }
    return standard
  }
}
