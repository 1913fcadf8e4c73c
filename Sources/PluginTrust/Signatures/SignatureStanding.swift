public import TaskModel

/// What a plugin's signature is worth.
public enum SignatureStanding: Sendable, Equatable {
  /// Nobody who is trusted vouches for it, and nobody has to.
  ///
  /// - Parameter note: What to tell the operator, a sentence without the plugin's name; nil when it has no signature at all.
  case unsigned(note: String?)

  /// A trusted key vouches for it. With several entries for one key, the identifiers are those of all.
  case signed(TrustedKey)

  /// Whether the plugin may register an identifier, as far as its signature goes.
  ///
  /// - Parameters:
  ///   - identifier: What it registers.
  ///   - file: The plugin's path, for the refusal.
  /// - Returns: Why not, or nil.
  public func refusal(of identifier: TaskIdentifier, file: String) -> PluginRefusal? {
    guard case .signed(let key) = self, !key.identifiers.contains(where: { $0.matches(identifier) }) else { return nil }
    let allowed = key.identifiers.isEmpty ? "nothing" : key.identifiers.map(\.text).joined(separator: ", ")
    return PluginRefusal(
      code: .signature, file: file,
      observed: "registers \(identifier), and is signed with the key \(key.name) (\(key.key.id)), which may sign for \(allowed)",
      remedy: "Have it signed with a key for that identifier, or add it to the key's identifiers in [[trusted_keys]].")
  }
}
