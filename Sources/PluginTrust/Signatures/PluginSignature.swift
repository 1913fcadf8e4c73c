import StrictText

/// An Ed25519 signature of one plugin's content, in a file `NAME.so.sig` beside the plugin.
public struct PluginSignature: Sendable, Hashable {
  /// The ``PluginPublicKey/id`` of the key that supposedly made the signature.
  public let keyID: String

  /// The signature, 64 bytes.
  public let bytes: [UInt8]

  private static let title = "taskhost plugin signature"

  init(keyID: String, bytes: [UInt8]) {
    self.keyID = keyID
    self.bytes = bytes
  }

  /// Parses the text of a file strictly.
  init(parsing text: [UInt8]) throws(SigningFlaw) {
    let values = try SigningText.values(of: ["format", "algorithm", "key", "signature"], title: Self.title, in: text)
    try SigningFormat.check(values[0], values[1])
    guard Hex.bytes(values[2], count: 8) != nil else { throw SigningFlaw("has a key id that is not 16 hexadecimal digits") }
    guard let bytes = Base64.decode(Array(values[3])), bytes.count == 64 else {
      throw SigningFlaw("has a signature that is not 64 bytes in base64")
    }
    self.init(keyID: String(decoding: values[2], as: UTF8.self), bytes: bytes)
  }

  /// Reads a signature file without checking its owner, for `taskhost plugins verify`.
  ///
  /// - Parameter path: `NAME.so.sig`, at most 1 KiB.
  public init(reading path: String) throws(SigningFileError) {
    do throws(SigningFlaw) {
      try self.init(parsing: try SmallFile.read(path, trust: .anybody))
    } catch {
      throw SigningFileError(path, error.observed, "Sign the plugin with `taskhost plugins sign`.")
    }
  }

  /// The content of the signature's file.
  public var text: String {
    SigningText.write(
      Self.title,
      ["format": SigningFormat.version, "algorithm": SigningFormat.algorithm, "key": keyID, "signature": Base64.encode(bytes)])
  }
}
