import CTaskHostSystem
import Glibc
import TaskModel
import Testing
import WorkerLink

@Suite("Hostile peers", .serialized) struct HostilePeerTests {
  /// The datagram that announces a body of that length.
  private func announcement(_ length: Int) -> [UInt8] {
    [0x54, UInt8(LinkFormat.version), 0xFF] + withUnsafeBytes(of: UInt32(length).littleEndian, Array.init)
  }

  /// What arrives of a datagram and a descriptor with it.
  private func refusal(_ bytes: [UInt8], _ body: TestMemfd? = nil) throws -> LinkError? {
    let link = try TestLink()
    link.sendRaw(bytes, attaching: body?.descriptor ?? -1)
    do throws(LinkError) { _ = try link.host.receive(wait: false) } catch { return error }
    return nil
  }

  @Test("a sealed body of the announced length is received")
  func honest() throws {
    #expect(try refusal(announcement(100_000), TestMemfd(bytes: 100_000)) == nil)
  }

  @Test("a body that is not sealed is refused")
  func unsealed() throws {
    #expect(try refusal(announcement(100_000), TestMemfd(bytes: 100_000, sealed: false)) == .malformed(what: "a body that is not sealed"))
  }

  @Test("a body with one seal missing is refused", arguments: [1, 2, 4, 8] as [Int32])
  func partlySealed(_ missing: Int32) throws {
    let body = TestMemfd(bytes: 100_000, sealed: false)
    // F_ADD_SEALS
    #expect(fcntl(body.descriptor, 1033, TASKHOST_SYSTEM_ALL_SEALS & ~missing) == 0)
    #expect(try refusal(announcement(100_000), body) == .malformed(what: "a body that is not sealed"))
  }

  @Test("a body of another length than announced is refused", arguments: [0, 1, 99_999, 100_001, 10_000_000])
  func wrongLength(_ bytes: Int) throws {
    #expect(
      try refusal(announcement(100_000), TestMemfd(bytes: bytes))
        == .malformed(what: "a body of \(bytes) bytes where 100000 were announced"))
  }

  @Test("a body that is too small or too large to be one is refused", arguments: [0, 1, 32_768, 4_194_305, 0xFFFF_FFFF])
  func unlikelyLength(_ bytes: Int) throws {
    #expect(try isMalformed(refusal(announcement(bytes), TestMemfd(bytes: bytes))))
  }

  @Test("an announcement without its descriptor is refused")
  func noDescriptor() throws {
    #expect(try isMalformed(refusal(announcement(100_000))))
  }

  @Test("a descriptor that nothing announces is refused")
  func unannounced() throws {
    #expect(try isMalformed(refusal(WorkerMessage.dropped(lines: 1).encode().bytes, TestMemfd(bytes: 100_000))))
    #expect(try isMalformed(refusal([0x54], TestMemfd(bytes: 100_000))))
    #expect(try isMalformed(refusal(announcement(100_000) + [0], TestMemfd(bytes: 100_000))))
  }

  @Test("a descriptor that is no memfd is refused")
  func noMemfd() throws {
    let link = try TestLink()
    link.sendRaw(announcement(100_000), attaching: link.worker.descriptor)
    #expect(throws: LinkError.malformed(what: "a body that is not sealed")) { try link.host.receive(wait: false) }
  }

  @Test("two descriptors are refused, whatever they are, and none stays open", arguments: [2, 3, 100])
  func manyDescriptors(_ count: Int) throws {
    let link = try TestLink()
    let body = TestMemfd("manyDescriptors\(count)", bytes: 100_000)
    send(announcement(100_000), descriptors: Array(repeating: body.descriptor, count: count), to: link.worker)
    #expect(try isMalformed(refusal(of: link)))
    #expect(TestLink.memfds(named: "manyDescriptors\(count)") == 1)
  }

  @Test("no refused descriptor stays open")
  func nothingLeaks() throws {
    let bodies = [TestMemfd("leak", bytes: 100_000), TestMemfd("leak", bytes: 99, sealed: false)]
    for body in bodies {
      for bytes in [announcement(100_000), announcement(99), [0x54], [UInt8](repeating: 1, count: 40_000)] { _ = try refusal(bytes, body) }
    }
    #expect(TestLink.memfds(named: "leak") == 2)
  }

  @Test("no body that was received stays open")
  func nothingStays() throws {
    let link = try TestLink()
    let body = TestMemfd("received", bytes: 100_000)
    for _ in 0..<10 {
      link.sendRaw(announcement(100_000), attaching: body.descriptor)
      #expect(try link.host.receive(wait: false)?.bytes.count == 100_000)
    }
    #expect(TestLink.memfds(named: "received") == 1)
  }

  @Test("a datagram that is larger than any is refused, and the next one is received")
  func oversize() throws {
    let link = try TestLink()
    link.sendRaw([UInt8](repeating: 0x54, count: LinkFormat.inlineBytes + 1))
    link.sendRaw(WorkerMessage.dropped(lines: 1).encode().bytes)
    #expect(try isMalformed(refusal(of: link)))
    let received = try #require(try link.host.receive(wait: false))
    #expect(try WorkerMessage(decoding: received) == .dropped(lines: 1))
  }

  @Test("an empty datagram is refused, not taken for the end")
  func empty() throws {
    #expect(try refusal([]) == .malformed(what: "it is empty"))
    #expect(try refusal([], TestMemfd(bytes: 10)) == .malformed(what: "it is empty"))
  }

  @Test(
    "a datagram too small for a message arrives and does not decode",
    arguments: [[0x54], [0x54, UInt8(LinkFormat.version)], [0]] as [[UInt8]])
  func tiny(_ bytes: [UInt8]) throws {
    let link = try TestLink()
    link.sendRaw(bytes)
    let received = try #require(try link.host.receive(wait: false))
    #expect(throws: LinkError.self) { try WorkerMessage(decoding: received) }
  }

  private func isMalformed(_ error: LinkError?) -> Bool {
    if case .malformed = error { true } else { false }
  }

  private func refusal(of link: TestLink) throws -> LinkError? {
    do throws(LinkError) { _ = try link.host.receive(wait: false) } catch { return error }
    return nil
  }

  /// Sends more descriptors at once than the link itself can.
  private func send(_ bytes: [UInt8], descriptors: [Int32], to end: LinkSocket) {
    // struct cmsghdr: length (8 bytes), level, type; then the descriptors, padded to 8 bytes.
    let length = 16 + descriptors.count * 4
    var control = [UInt8](repeating: 0, count: (length + 7) / 8 * 8)
    control.withUnsafeMutableBytes {
      $0.storeBytes(of: length, as: Int.self)
      $0.storeBytes(of: SOL_SOCKET, toByteOffset: 8, as: Int32.self)
      $0.storeBytes(of: 1, toByteOffset: 12, as: Int32.self)
      for (index, descriptor) in descriptors.enumerated() { $0.storeBytes(of: descriptor, toByteOffset: 16 + index * 4, as: Int32.self) }
    }
    var bytes = bytes
    let sent = bytes.withUnsafeMutableBytes { bytes in
      control.withUnsafeMutableBytes { control in
        var part = iovec(iov_base: bytes.baseAddress, iov_len: bytes.count)
        return withUnsafeMutablePointer(to: &part) {
          var message = msghdr()
          message.msg_iov = $0
          message.msg_iovlen = 1
          message.msg_control = control.baseAddress
          message.msg_controllen = control.count
          return sendmsg(end.descriptor, &message, 0)
        }
      }
    }
    #expect(sent == bytes.count)
  }
}
