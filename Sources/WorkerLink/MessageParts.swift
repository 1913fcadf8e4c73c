/// Puts the parts of a message together. What one end of a link receives goes through one of these, in order.
public struct MessageParts: Sendable {
  private var bytes: [UInt8] = []
  /// Bytes of the message whose parts arrive; 0 between messages.
  private var whole = 0

  /// Expects a message.
  public init() {}

  /// Takes a datagram in; nil if it is not the end of a message.
  mutating func add(_ datagram: [UInt8]) throws(LinkError) -> ReceivedMessage? {
    guard datagram.count > 2, datagram[2] == LinkFormat.part else {
      guard whole == 0 else { throw .malformed(what: "a message among the parts of another") }
      return ReceivedMessage(bytes: datagram)
    }
    var reader = MessageReader(datagram)
    _ = try reader.kind()
    let length = Int(try reader.integer(UInt32.self, "length of a message in parts"))
    guard length > LinkFormat.datagramBytes, length <= LinkFormat.messageBytes else {
      throw .malformed(what: "a message of \(length) bytes in parts, not \(LinkFormat.datagramBytes + 1) to \(LinkFormat.messageBytes)")
    }
    guard whole == 0 || whole == length else { throw .malformed(what: "a part of a message of \(length) bytes where one has \(whole)") }
    let content = datagram[LinkFormat.partHeadBytes...]
    let expected = min(LinkFormat.partBytes, length - bytes.count)
    guard content.count == expected else { throw .malformed(what: "a part of \(content.count) bytes where \(expected) are to come") }
    whole = length
    bytes.append(contentsOf: content)
    guard bytes.count == whole else { return nil }
    defer { self = MessageParts() }
    return ReceivedMessage(bytes: bytes)
  }

  /// The datagram with a part of a message.
  static func datagram(_ index: Int, of message: [UInt8]) -> [UInt8] {
    let start = index * LinkFormat.partBytes
    let end = min(start + LinkFormat.partBytes, message.count)
    var writer = MessageWriter(kind: LinkFormat.part, capacity: LinkFormat.partHeadBytes + end - start)
    writer.integer(UInt32(clamping: message.count))
    return writer.bytes + message[start..<end]
  }

  /// How many datagrams a message travels in.
  static func count(of message: [UInt8]) -> Int {
    message.count <= LinkFormat.datagramBytes ? 1 : (message.count - 1) / LinkFormat.partBytes + 1
  }
}
