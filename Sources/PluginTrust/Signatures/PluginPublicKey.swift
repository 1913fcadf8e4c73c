import StrictText

/// The public half of an Ed25519 key, for verifying signatures.
///
/// Its file `NAME.pub` has a title and four lines; ``text`` is the exact content.
public struct PluginPublicKey: Sendable, Hashable {
  /// The raw key, 32 bytes.
  public let bytes: [UInt8]

  /// The first 8 bytes of SHA-256 of ``bytes``, as 16 lower-case hexadecimal digits. Files and messages name the key by it.
  public let id: String

  private static let title = "taskhost public key"

  /// - Parameter bytes: 32 bytes.
  init(bytes: [UInt8]) throws(SigningFlaw) {
    guard bytes.count == 32 else { throw SigningFlaw("has a key that is not 32 bytes") }
    self.bytes = bytes
    id = Hex.text(SHA256.digest(of: bytes).prefix(8))
  }

  /// Parses the text of a file strictly.
  init(parsing text: [UInt8]) throws(SigningFlaw) {
    let values = try SigningText.values(of: ["format", "algorithm", "id", "key"], title: Self.title, in: text)
    try SigningFormat.check(values[0], values[1])
    guard let bytes = Base64.decode(Array(values[3])), bytes.count == 32 else {
      throw SigningFlaw("has a key that is not 32 bytes in base64")
    }
    try self.init(bytes: bytes)
    guard values[2].elementsEqual(id.utf8) else { throw SigningFlaw("has an id that does not match its key") }
  }

  /// Reads a key file without checking its owner, for `taskhost plugins verify`.
  ///
  /// - Parameter path: `NAME.pub`, at most 1 KiB.
  public init(reading path: String) throws(SigningFileError) {
    try self.init(reading: path, trust: .anybody)
  }

  init(reading path: String, trust: SmallFile.Trust) throws(SigningFileError) {
    do throws(SigningFlaw) {
      try self.init(parsing: try SmallFile.read(path, trust: trust))
    } catch {
      throw SigningFileError(
        path, error.observed, "Give a public key made by `taskhost plugins keygen`, with the owner and mode of a plugin.")
    }
  }

  /// The content of the key's file.
  public var text: String {
    SigningText.write(
      Self.title, ["format": SigningFormat.version, "algorithm": SigningFormat.algorithm, "id": id, "key": Base64.encode(bytes)])
  }

  /// Whether `signature` is this key's signature of content with `digest`.
  ///
  /// - Parameter digest: The SHA-256 of the content, 32 bytes.
  public func verifies(_ signature: PluginSignature, digest: [UInt8]) -> Bool {
    signature.keyID == id && Ed25519.verifies(signature.bytes, of: SigningFormat.message(digest: digest), by: bytes)
  }
}
