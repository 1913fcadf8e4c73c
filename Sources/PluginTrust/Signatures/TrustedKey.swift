import Glibc
public import TaskModel

/// A key that the operator trusts, and the identifiers for which it may sign.
public struct TrustedKey: Sendable, Hashable {
  /// The public key.
  public let key: PluginPublicKey

  /// The key's name in messages: the path of its file.
  public let name: String

  /// The identifiers that plugins signed with it may register.
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
  ///   - file: `NAME.pub`. As for a plugin and its directories, it must not be a link, must belong to root or the host's user, and must not
  ///     be writable by others.
  ///   - identifiers: The identifiers that plugins signed with it may register.
  ///   - user: The user who may own it, besides root; the host's if nil.
  public init(reading file: String, identifiers: [IdentifierPattern], user: UInt32? = nil) throws(SigningFileError) {
    self.init(key: try PluginPublicKey(reading: file, trust: .owned(by: user ?? geteuid())), name: file, identifiers: identifiers)
  }
}
