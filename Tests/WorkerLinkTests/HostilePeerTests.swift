import TaskModel
import Testing
import WorkerLink

@Suite("Hostile peers", .serialized) struct HostilePeerTests {
  /// A datagram with a part of a message of that length.
  private func part(of length: Int, bytes: Int) -> [UInt8] {
    let head = [0x54, UInt8(LinkFormat.version), 0xFF] + withUnsafeBytes(of: UInt32(length).littleEndian, Array.init)
    return head + Array(repeating: 7, count: bytes)
  }

  private static let full = LinkFormat.datagramBytes - 7

  private func refusal(of link: TestLink) -> LinkError? {
    var parts = MessageParts()
    do throws(LinkError) { _ = try link.host.receive(into: &parts) } catch { return error }
    return nil
  }

  /// What becomes of these datagrams.
  private func refusal(_ datagrams: [[UInt8]]) throws -> LinkError? {
    let link = try TestLink()
    datagrams.forEach { link.sendRaw($0) }
    return refusal(of: link)
  }

  private func isMalformed(_ error: LinkError?) -> Bool {
    if case .malformed = error { true } else { false }
  }

  @Test("the parts of a message make it, whatever lies between their arrivals") func honest() throws {
    let link = try TestLink()
    var parts = MessageParts()
    for _ in 0..<2 {
      for bytes in [Self.full, Self.full, Self.full] {
        link.sendRaw(part(of: 3 * Self.full + 5, bytes: bytes))
        #expect(try link.host.receive(into: &parts) == nil)
      }
      link.sendRaw(part(of: 3 * Self.full + 5, bytes: 5))
      #expect(try link.host.receive(into: &parts)?.bytes == Array(repeating: 7, count: 3 * Self.full + 5))
    }
  }

  @Test("a part that is shorter or longer than what is to come is refused", arguments: [0, 1, full - 1])
  func wrongSize(_ bytes: Int) throws {
    #expect(
      try refusal([part(of: 100_000, bytes: bytes)]) == .malformed(what: "a part of \(bytes) bytes where \(Self.full) are to come"))
    let last = 50_000 - Self.full
    #expect(
      try refusal([part(of: 50_000, bytes: Self.full), part(of: 50_000, bytes: bytes)])
        == .malformed(what: "a part of \(bytes) bytes where \(last) are to come"))
  }

  @Test("a message that is too small or too large to come in parts is refused", arguments: [0, 1, 32_768, 4_194_305, 0xFFFF_FFFF])
  func unlikelyLength(_ bytes: Int) throws {
    #expect(try isMalformed(refusal([part(of: bytes, bytes: min(bytes, Self.full))])))
  }

  @Test("a part of another message, or another message, among the parts of one is refused") func mixed() throws {
    let first = part(of: 100_000, bytes: Self.full)
    #expect(
      try refusal([first, part(of: 100_001, bytes: Self.full)])
        == .malformed(what: "a part of a message of 100001 bytes where one has 100000"))
    #expect(
      try refusal([first, WorkerMessage.dropped(lines: 1).encode().bytes]) == .malformed(what: "a message among the parts of another"))
    #expect(try refusal([first, [0x54]]) == .malformed(what: "a message among the parts of another"))
  }

  @Test("a part of another version is refused as that") func version() throws {
    var datagram = part(of: 100_000, bytes: Self.full)
    datagram[1] = 16
    #expect(try refusal([datagram]) == .version(found: 16))
  }

  @Test("a descriptor is refused, and does not stay open", arguments: [1, 2, 3, 100])
  func descriptors(_ count: Int) throws {
    let body = TestMemfd("descriptors\(count)")
    for bytes in [WorkerMessage.dropped(lines: 1).encode().bytes, part(of: 100_000, bytes: Self.full), [0x54]] {
      let link = try TestLink()
      link.sendRaw(bytes, attaching: Array(repeating: body.descriptor, count: count))
      #expect(isMalformed(refusal(of: link)))
    }
    #expect(TestLink.memfds(named: "descriptors\(count)") == 1)
  }

  @Test("a datagram that is larger than any is refused, and the next one is received")
  func oversize() throws {
    let link = try TestLink()
    link.sendRaw([UInt8](repeating: 0x54, count: LinkFormat.datagramBytes + 1))
    link.sendRaw(WorkerMessage.dropped(lines: 1).encode().bytes)
    #expect(isMalformed(refusal(of: link)))
    #expect(try WorkerMessage(decoding: try link.host.receive()) == .dropped(lines: 1))
  }

  @Test("an empty datagram is refused, not taken for the end")
  func empty() throws {
    #expect(try refusal([[]]) == .malformed(what: "it is empty"))
    let link = try TestLink()
    let file = TestMemfd()
    withExtendedLifetime(file) { link.sendRaw([], attaching: [file.descriptor]) }
    #expect(refusal(of: link) == .malformed(what: "it is empty"))
  }

  @Test(
    "a datagram too small for a message arrives and does not decode",
    arguments: [[0x54], [0x54, UInt8(LinkFormat.version)], [0]] as [[UInt8]])
  func tiny(_ bytes: [UInt8]) throws {
    let link = try TestLink()
    link.sendRaw(bytes)
    let received = try link.host.receive()
    #expect(throws: LinkError.self) { try WorkerMessage(decoding: received) }
  }
}
