/// A message as it travels, ready to be sent once or often.
public struct EncodedMessage: Sendable, Hashable {
  /// The bytes: magic, version, kind, fields.
  public let bytes: [UInt8]

  /// Bytes that an encoder has written; tests send others.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}
