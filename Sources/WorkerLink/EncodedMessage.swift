/// A message as it travels, ready to be sent any number of times.
public struct EncodedMessage: Sendable, Hashable {
  /// The bytes: magic, version, kind, fields.
  public let bytes: [UInt8]

  /// Wraps bytes from an encoder, or from a test.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}
