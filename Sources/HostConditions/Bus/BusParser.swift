/// Splits the bytes of a connection into messages.
enum BusParser {
  /// The maximum size of a message in bytes. The protocol allows 128 MiB, but the messages expected here have less than a thousandth of
  /// that.
  static let limit = 1 << 20

  /// What the bytes begin with.
  enum Result: Hashable {
    /// A message of `length` bytes; nil for a kind that is irrelevant here.
    case message(BusMessage?, length: Int)
    /// A part of a message.
    case incomplete
    /// Not a D-Bus message.
    case malformed
  }

  static func parse(_ bytes: [UInt8]) -> Result {
    guard let order = bytes.first else { return .incomplete }
    guard order == UInt8(ascii: "l") || order == UInt8(ascii: "B") else { return .malformed }
    let isBigEndian = order == UInt8(ascii: "B")
    let reader = BusReader(bytes, isBigEndian: isBigEndian)
    guard bytes.count >= 16, let bodyLength = reader.number(at: 4), let serial = reader.number(at: 8),
      let fieldsLength = reader.number(at: 12)
    else { return .incomplete }
    guard bytes[3] == 1, bodyLength <= limit, fieldsLength <= limit else { return .malformed }
    let fieldsEnd = 16 + Int(fieldsLength)
    let bodyStart = (fieldsEnd + 7) & ~7
    let end = bodyStart + Int(bodyLength)
    guard bytes.count >= end else { return .incomplete }
    // Unknown kinds must be ignored.
    guard let kind = BusMessage.Kind(rawValue: bytes[1]) else { return .message(nil, length: end) }
    var message = BusMessage(kind: kind, serial: serial, isBigEndian: isBigEndian)
    message.body = Array(bytes[bodyStart..<end])
    guard readFields(reader, 16..<fieldsEnd, into: &message) else { return .malformed }
    return .message(message, length: end)
  }

  /// Reads the header's fields. Returns false if they violate the protocol.
  private static func readFields(_ reader: BusReader, _ range: Range<Int>, into message: inout BusMessage) -> Bool {
    var offset = range.lowerBound
    while offset < range.upperBound {
      offset = (offset + 7) & ~7
      // Each field is its number and a variant whose signature has one letter.
      guard let code = reader.byte(at: offset), reader.byte(at: offset + 1) == 1, let type = reader.byte(at: offset + 2),
        reader.byte(at: offset + 3) == 0
      else { return false }
      offset += 4
      var text = ""
      var number: UInt32 = 0
      switch type {
      case UInt8(ascii: "s"), UInt8(ascii: "o"):
        guard let length = reader.number(at: offset), let read = reader.text(at: offset + 4, length: Int(length)) else { return false }
        text = read
        offset += 4 + Int(length) + 1
      case UInt8(ascii: "g"):
        guard let length = reader.byte(at: offset), let read = reader.text(at: offset + 1, length: Int(length)) else { return false }
        text = read
        offset += 1 + Int(length) + 1
      case UInt8(ascii: "u"):
        guard let read = reader.number(at: offset) else { return false }
        number = read
        offset += 4
      default: return false
      }
      switch BusField(rawValue: code) {
      case .path: message.path = text
      case .interface: message.interface = text
      case .member: message.member = text
      case .errorName: message.errorName = text
      case .replyTo: message.replyTo = number
      case .destination: message.destination = text
      case .sender: message.sender = text
      case .signature: message.signature = text
      case .descriptorCount: message.descriptorCount = number
      case nil: break
      }
    }
    return offset == range.upperBound
  }
}

/// Reads D-Bus values from bytes; values beyond the end are nil, whatever the bytes claim.
struct BusReader {
  private let bytes: [UInt8]
  private let isBigEndian: Bool

  init(_ bytes: [UInt8], isBigEndian: Bool) {
    self.bytes = bytes
    self.isBigEndian = isBigEndian
  }

  func number(at offset: Int) -> UInt32? {
    guard offset >= 0, offset + 4 <= bytes.count else { return nil }
    let value = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self) }
    return isBigEndian ? UInt32(bigEndian: value) : UInt32(littleEndian: value)
  }

  func text(at offset: Int, length: Int) -> String? {
    guard offset >= 0, length >= 0, length < bytes.count, offset + length < bytes.count, bytes[offset + length] == 0 else { return nil }
    return String(validating: bytes[offset..<offset + length], as: UTF8.self)
  }

  func byte(at offset: Int) -> UInt8? { bytes.indices.contains(offset) ? bytes[offset] : nil }
}
