import Glibc
public import TaskModel

/// A key that the operator trusts, and the identifiers that it may sign for.
public struct TrustedKey: Sendable, Hashable {
  /// The public key.
  public let key: PluginPublicKey

  /// The key's name in messages: the path of its file.
  public let name: String

  /// The identifiers that plugins signed with the key may register.
  public let identifiers: [IdentifierPattern]

  /// Creates a trusted key.
  public init(key: PluginPublicKey, name: String, identifiers: [IdentifierPattern]) {
    self.key = key
    self.name = name
    self.identifiers = identifiers
  }

  /// Reads the file of a `[[trusted_keys]]` entry.
  ///
  /// - Parameters:
  ///   - file: `NAME.pub`. The rule for a plugin and its directories applies: it must not be a link, must belong to root or the host's
  ///     user, and must not be writable by others.
  ///   - identifiers: The identifiers that plugins signed with the key may register.
  ///   - user: The user who, besides root, may own the file; nil means the host's user.
  public init(reading file: String, identifiers: [IdentifierPattern], user: UInt32? = nil) throws(SigningFileError) {
    self.init(key: try PluginPublicKey(reading: file, trust: .owned(by: user ?? geteuid())), name: file, identifiers: identifiers)
  }
}
