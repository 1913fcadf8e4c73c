/// A message as it arrived, whole but unchecked.
public struct ReceivedMessage: Sendable, Hashable {
  /// The bytes, at most ``LinkFormat/messageBytes``.
  public let bytes: [UInt8]

  /// Wraps bytes from the other end, or from a test.
  public init(bytes: [UInt8]) { self.bytes = bytes }
}
