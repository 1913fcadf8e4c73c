public import TaskModel

/// The result of checking a plugin's signature.
public enum SignatureStatus: Sendable, Equatable {
  /// No trusted key signed the plugin, and no signature is required.
  ///
  /// - Parameter note: A sentence for the operator, without the plugin's name; nil if the plugin has no signature.
  case unsigned(note: String?)

  /// A trusted key signed the plugin. If the key has several entries, the identifiers of all of them apply.
  case signed(TrustedKey)

  /// Checks whether a plugin with this status may register an identifier.
  ///
  /// - Parameters:
  ///   - identifier: The identifier to register.
  ///   - file: The plugin's path, for the refusal.
  /// - Returns: The reason why it may not; nil if it may.
  public func refusal(of identifier: TaskIdentifier, file: String) -> PluginRefusal? {
    guard case .signed(let key) = self, !key.identifiers.contains(where: { $0.matches(identifier) }) else { return nil }
    let allowed = key.identifiers.isEmpty ? "nothing" : key.identifiers.map(\.text).joined(separator: ", ")
    return PluginRefusal(
      code: .signature, file: file,
      observed: "registers \(identifier), but is signed with the key \(key.name) (\(key.key.id)), which may sign for \(allowed)",
      remedy: "Have it signed with a key for that identifier, or add it to the key's identifiers in [[trusted_keys]].")
  }
}
