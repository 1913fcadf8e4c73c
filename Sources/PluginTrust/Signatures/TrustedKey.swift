import Glibc
public import TaskModel

/// A key the operator trusts, and whose plugins it may sign.
public struct TrustedKey: Sendable, Hashable {
  /// The key.
  public let key: PluginPublicKey

  /// What messages call it: the path of its file.
  public let name: String

  /// The identifiers that a plugin signed with it may register.
  public let identifiers: [IdentifierPattern]

  /// Creates a key.
  public init(key: PluginPublicKey, name: String, identifiers: [IdentifierPattern]) {
    self.key = key
    self.name = name
    self.identifiers = identifiers
  }

  /// Reads a `[[trusted_keys]]` entry's file.
  ///
  /// - Parameters:
  ///   - file: `NAME.pub`. Like a plugin it must be no link, belong to root or the host's user and be writable by nobody else, and so must
  ///     its directories.
  ///   - identifiers: What plugins signed with it may register.
  ///   - user: The user who may own it, besides root; the host's if nil.
  public init(reading file: String, identifiers: [IdentifierPattern], user: UInt32? = nil) throws(SigningFileError) {
    self.init(key: try PluginPublicKey(reading: file, trust: .owned(by: user ?? geteuid())), name: file, identifiers: identifiers)
  }
}
