import Glibc
import StrictText

/// The private half of an Ed25519 key, for signing plugins. It is never printed, and only ``writeFiles(named:)`` writes it.
public struct PluginSigningKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The public half of the key.
  public let publicKey: PluginPublicKey

  /// The raw key, 32 bytes.
  private let bytes: [UInt8]

  private static let title = "taskhost private key, keep it secret"

  private init(_ bytes: [UInt8]) throws(SigningFlaw) {
    guard let publicKey = Ed25519.publicKey(of: bytes) else { throw SigningFlaw("has a key that is not 32 bytes in base64") }
    self.bytes = bytes
    self.publicKey = try PluginPublicKey(bytes: publicKey)
  }

  /// Creates a key from the system's random numbers.
  public static func generate() throws(SigningFileError) -> PluginSigningKey {
    guard let bytes = Ed25519.newPrivateKey(), let key = try? PluginSigningKey(bytes) else {
      throw SigningFileError("key", "cannot be generated", "Try again.")
    }
    return key
  }

  /// Parses the text of a file strictly.
  init(parsing text: [UInt8]) throws(SigningFlaw) {
    let values = try SigningText.values(of: ["format", "algorithm", "id", "key"], title: Self.title, in: text)
    try SigningFormat.check(values[0], values[1])
    try self.init(Base64.decode(Array(values[3])) ?? [])
    guard values[2].elementsEqual(publicKey.id.utf8) else { throw SigningFlaw("has an id that does not match its key") }
  }

  /// Reads a private key.
  ///
  /// - Parameter path: `NAME.key`, owned by this process's user or root, and inaccessible to others.
  public init(reading path: String) throws(SigningFileError) {
    do throws(SigningFlaw) {
      try self.init(parsing: try SmallFile.read(path, trust: .secret(of: geteuid())))
    } catch {
      let remedy =
        error.observed.hasPrefix("can be used by")
        ? "Run: chmod 600 '\(path)'; make a new key if others could have read it." : "Give a private key made by `taskhost plugins keygen`."
      throw SigningFileError(path, error.observed, remedy)
    }
  }

  /// Signs content.
  ///
  /// - Parameter digest: The SHA-256 of the content, 32 bytes.
  /// - Throws: Only if the cryptographic library fails.
  public func signature(digest: [UInt8]) throws(SigningFileError) -> PluginSignature {
    guard let signature = Ed25519.signature(of: SigningFormat.message(digest: digest), with: bytes) else {
      throw SigningFileError("key \(publicKey.id)", "cannot sign", "Try again.")
    }
    return PluginSignature(keyID: publicKey.id, bytes: signature)
  }

  var text: String {
    SigningText.write(
      Self.title,
      [
        "format": SigningFormat.version, "algorithm": SigningFormat.algorithm, "id": publicKey.id,
        "key": Base64.encode(bytes),
      ])
  }

  /// Writes `name.key`, readable by the owner only, and `name.pub`. Never replaces an existing file.
  ///
  /// - Throws: An error that names the file that could not be written. In this case, no new file remains.
  public func writeFiles(named name: String) throws(SigningFileError) {
    try NewFile.write(Array(text.utf8), to: name + ".key", mode: 0o600)
    do throws(SigningFileError) {
      try NewFile.write(Array(publicKey.text.utf8), to: name + ".pub", mode: 0o644)
    } catch {
      unlink(name + ".key")
      throw error
    }
  }

  /// `private key` and the id of the public half.
  public var description: String { "private key \(publicKey.id)" }

  /// Shows only the public half.
  public var customMirror: Mirror { Mirror(self, children: ["publicKey": publicKey]) }
}
