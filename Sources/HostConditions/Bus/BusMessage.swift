/// A D-Bus message with the parts needed here: an outgoing call, an incoming answer or signal.
struct BusMessage: Sendable, Hashable {
  var kind: Kind
  /// At least 1.
  var serial: UInt32
  /// The number of the call that it answers, if any.
  var replyTo: UInt32?
  /// The object and the fields below are sent only if set.
  var path: String?
  var interface: String?
  var member: String?
  var errorName: String?
  var destination: String?
  /// The sender's name, set by the bus.
  var sender: String?
  /// How many descriptors come with it.
  var descriptorCount: UInt32?
  var signature = ""
  var body: [UInt8] = []
  var isBigEndian = false
  /// Whether the bus may start the service of the destination.
  var startsService = false

  enum Kind: UInt8, Sendable, Hashable {
    case call = 1
    case answer = 2
    case error = 3
    case signal = 4
  }

  /// The unsigned number in the body's only variant, as `Properties.Get` returns it; nil for any other body.
  var variantNumber: UInt32? {
    // The signature of the variant is its length, its letter and a zero; the number is aligned to four bytes.
    guard kind == .answer, signature == "v", body.count >= 8, body[0] == 1, body[1] == UInt8(ascii: "u"), body[2] == 0 else { return nil }
    return BusReader(body, isBigEndian: isBigEndian).number(at: 4)
  }

  static func body(_ strings: [String]) -> [UInt8] {
    var writer = BusWriter()
    for string in strings { writer.append(string: string) }
    return writer.bytes
  }

  /// A call of the bus itself.
  static func ofBus(_ member: String, _ arguments: String...) -> BusMessage {
    let bus = "org.freedesktop.DBus"
    return BusMessage(
      kind: .call, serial: 0, path: "/org/freedesktop/DBus", interface: bus, member: member, destination: bus,
      signature: String(repeating: "s", count: arguments.count), body: BusMessage.body(arguments))
  }

  /// The message in bytes, little endian.
  var encoded: [UInt8] {
    var writer = BusWriter()
    writer.bytes = [UInt8(ascii: "l"), kind.rawValue, kind == .call ? (startsService ? 0 : 0x2) : 0x1, 1]
    writer.append(number: UInt32(body.count))
    writer.append(number: serial)
    var fields = BusWriter()
    func field(_ code: BusField, _ type: Unicode.Scalar, _ body: (inout BusWriter) -> Void) {
      fields.align(8)
      fields.bytes += [code.rawValue, 1, UInt8(truncatingIfNeeded: type.value), 0]
      body(&fields)
    }
    if let path { field(.path, "o") { $0.append(string: path) } }
    if let interface { field(.interface, "s") { $0.append(string: interface) } }
    if let member { field(.member, "s") { $0.append(string: member) } }
    if let errorName { field(.errorName, "s") { $0.append(string: errorName) } }
    if let replyTo { field(.replyTo, "u") { $0.append(number: replyTo) } }
    if let destination { field(.destination, "s") { $0.append(string: destination) } }
    if !signature.isEmpty { field(.signature, "g") { $0.append(signature: signature) } }
    if let descriptorCount { field(.descriptorCount, "u") { $0.append(number: descriptorCount) } }
    writer.append(number: UInt32(fields.bytes.count))
    // The fields begin at byte 16, so their alignment in the message is the same as on their own.
    writer.bytes += fields.bytes
    writer.align(8)
    return writer.bytes + body
  }
}

/// The fields of a message's header, with their protocol numbers.
enum BusField: UInt8 {
  case path = 1
  case interface = 2
  case member = 3
  case errorName = 4
  case replyTo = 5
  case destination = 6
  case sender = 7
  case signature = 8
  case descriptorCount = 9
}

struct BusWriter {
  var bytes: [UInt8] = []

  mutating func align(_ count: Int) { while bytes.count % count != 0 { bytes.append(0) } }

  mutating func append(number: UInt32) {
    align(4)
    withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
  }

  mutating func append(string: String) {
    append(number: UInt32(string.utf8.count))
    bytes += Array(string.utf8) + [0]
  }

  mutating func append(signature: String) { bytes += [UInt8(truncatingIfNeeded: signature.utf8.count)] + Array(signature.utf8) + [0] }
}
