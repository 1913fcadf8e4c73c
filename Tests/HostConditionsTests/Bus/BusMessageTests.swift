import Testing

@testable import HostConditions

@Suite("Messages of D-Bus") struct BusMessageTests {
  private static let call = BusMessage(
    kind: .call, serial: 7, path: "/org/freedesktop/NetworkManager", interface: "org.freedesktop.DBus.Properties", member: "Get",
    destination: "org.freedesktop.NetworkManager", signature: "ss", body: BusMessage.body(["org.freedesktop.NetworkManager", "Metered"]))

  private static func answer(_ body: [UInt8], signature: String = "v", kind: BusMessage.Kind = .answer) -> BusMessage {
    BusMessage(kind: kind, serial: 9, replyTo: 7, signature: signature, body: body)
  }

  @Test("a call is read as it was written", arguments: [call, answer([1, 2, 3]), BusMessage(kind: .signal, serial: 1, errorName: "a.b")])
  func roundTrip(_ message: BusMessage) {
    let bytes = message.encoded
    #expect(BusParser.parse(bytes) == .message(message, length: bytes.count))
    #expect(BusParser.parse(bytes + [1, 2, 3]) == .message(message, length: bytes.count))
  }

  @Test("the beginning of a message is incomplete, wherever it ends") func incomplete() {
    let bytes = Self.call.encoded
    for length in 0..<bytes.count { #expect(BusParser.parse(Array(bytes.prefix(length))) == .incomplete) }
  }

  @Test("a message with the highest byte first is read too") func bigEndian() {
    // A method return to call 7 with a variant that holds the number 4.
    let bytes: [UInt8] = [
      0x42, 2, 1, 1, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 15,  // order, kind, flags, version, body, serial, fields
      5, 1, 0x75, 0, 0, 0, 0, 7,  // reply to 7
      8, 1, 0x67, 0, 1, 0x76, 0, 0,  // signature "v"
      1, 0x75, 0, 0, 0, 0, 0, 4,
    ]
    guard case .message(let message?, bytes.count) = BusParser.parse(bytes) else {
      Issue.record("no message")
      return
    }
    #expect(message.replyTo == 7)
    #expect(message.variantNumber == 4)
  }

  @Test(
    "what is no message is refused",
    arguments: [
      Array("HTTP/1.1 200 OK\r\n".utf8),
      [0x6C, 1, 0, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0],  // another version
      [0x6C, 1, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0, 0, 0, 0, 0],  // 4 GiB
      [0x6C, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 1, 1, 0x61, 0, 0, 0, 0, 0],  // a field that is an array
    ])
  func malformed(_ bytes: [UInt8]) { #expect(BusParser.parse(bytes) == .malformed) }

  @Test("a kind of message that is not known is passed over") func unknown() {
    let bytes: [UInt8] = [0x6C, 9, 0, 1, 4, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
    #expect(BusParser.parse(bytes) == .message(nil, length: 20))
  }

  @Test(
    "the number in an answer's variant",
    arguments: [
      (answer([1, 0x75, 0, 0, 3, 0, 0, 0]), 3), (answer([1, 0x73, 0, 0, 3, 0, 0, 0]), nil), (answer([1, 0x75, 0, 0, 3]), nil),
      (answer([1, 0x75, 0, 0, 3, 0, 0, 0], kind: .error), nil), (answer([1, 0x75, 0, 0, 3, 0, 0, 0], signature: "u"), nil),
    ] as [(BusMessage, UInt32?)])
  func variant(_ message: BusMessage, _ number: UInt32?) { #expect(message.variantNumber == number) }

  @Test("no bytes break it") func random() {
    var generator = SystemRandomNumberGenerator()
    let model = Self.call.encoded
    for _ in 0..<50_000 {
      var bytes = model
      for _ in 0..<Int.random(in: 1...6, using: &generator) {
        bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      _ = BusParser.parse(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator))))
    }
  }
}
