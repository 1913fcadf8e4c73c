import PluginTrust
import TaskModel

/// Which file may have which identifier, as the configuration says.
struct IdentifierRules: Sendable {
  private let configuration: HostConfiguration
  /// The identifiers that the configuration requires of a file; several if its plugin registers several handlers.
  private let tied: [String: [String]]

  init(_ configuration: HostConfiguration) {
    self.configuration = configuration
    tied = configuration.plugins.sorted { $0.key < $1.key }.reduce(into: [:]) { tied, plugin in
      if let file = plugin.value.file { tied[file, default: []].append(plugin.key) }
    }
  }

  /// The identifier of a file's plugin before its code runs: the one that the configuration requires, if it requires one, or that of its note.
  func identifier(of file: String, note: PluginNote?) -> TaskIdentifier? {
    let required = tied[file].flatMap { $0.count == 1 ? $0[0] : nil }
    return (required ?? note?.identifier).flatMap { try? TaskIdentifier($0) }
  }

  /// Every identifier that the configuration requires of a file.
  func identifiers(tiedTo file: String) -> [String] { tied[file] ?? [] }

  /// Throws if the file may not have the identifier.
  func check(_ identifier: TaskIdentifier, for file: String) throws(CallFailure) {
    if let expected = tied[file], !expected.contains(identifier.rawValue) {
      throw CallFailure(.notPermitted, "the configuration ties \(file) to \(expected.joined(separator: " and ")), not to \(identifier)")
    }
    if let other = configuration.plugins[identifier.rawValue]?.file, other != file {
      throw CallFailure(.notPermitted, "the configuration ties \(identifier) to \(other), not to \(file)")
    }
    guard configuration.permits(identifier) else {
      throw CallFailure(.notPermitted, "\(identifier) is not in permitted_identifiers")
    }
  }
}
