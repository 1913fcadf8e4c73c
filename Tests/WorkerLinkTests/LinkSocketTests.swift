import CTaskHostSystem
import Glibc
import TaskModel
import Testing
import WorkerLink

@Suite("Link sockets") struct LinkSocketTests {
  @Test("messages arrive whole, in order, in both directions")
  func small() throws {
    let link = try TestLink()
    for message in Samples.host {
      try link.host.send(message.encode())
      let received = try link.worker.receive()
      #expect(try HostMessage(decoding: received) == message)
    }
    for message in Samples.worker.prefix(20) { try link.worker.send(message.encode()) }
    for message in Samples.worker.prefix(20) {
      let received = try link.host.receive()
      #expect(try WorkerMessage(decoding: received) == message)
    }
  }

  @Test(
    "a message of any size up to the largest arrives",
    arguments: [
      LinkFormat.datagramBytes - 1, LinkFormat.datagramBytes, LinkFormat.datagramBytes + 1, 2 * (LinkFormat.datagramBytes - 7), 1 << 20,
      LinkFormat.messageBytes,
    ])
  func sizes(_ bytes: Int) async throws {
    let link = try TestLink()
    let message = EncodedMessage(bytes: [0x54, UInt8(LinkFormat.version), 3] + (3..<bytes).map { UInt8(truncatingIfNeeded: $0 / 7) })
    let worker = link.worker
    let sent = OwnThread { (try? worker.send(message)) != nil }
    #expect(try link.host.receive().bytes == message.bytes)
    #expect(await sent.value == true)
  }

  @Test("a message beyond the largest is refused before it is sent")
  func tooBig() throws {
    let link = try TestLink()
    let message = EncodedMessage(bytes: [UInt8](repeating: 1, count: LinkFormat.messageBytes + 1))
    #expect(throws: LinkError.tooBig(bytes: message.bytes.count)) { try link.host.send(message) }
    #expect(try link.worker.arrived() == nil)
  }

  @Test("with nothing to receive and no wait there is no message")
  func nothing() throws {
    let link = try TestLink()
    #expect(try link.host.arrived() == nil)
  }

  @Test("a peer that is gone is closed to sender and receiver")
  func gone() throws {
    let link = try TestLink()
    link.closeEnd(link.worker)
    #expect(throws: LinkError.closed) { try link.host.receive() }
    #expect(throws: LinkError.closed) { try link.host.arrived() }
    #expect(throws: LinkError.closed) { try link.host.send(HostMessage.shutdown.encode()) }
    var sent = 0
    #expect(throws: LinkError.closed) { _ = try link.host.send(HostMessage.shutdown.encode(), after: &sent) }
  }

  /// Passed without proving anything if the worker's end had nothing unread: only then the kernel reports a reset before the messages.
  @Test("what a worker sent before it died with unread orders is received")
  func lastWords() throws {
    let link = try TestLink()
    try link.host.send(HostMessage.shutdown.encode())
    for number in 0..<10 { try link.worker.send(WorkerMessage.dropped(lines: UInt64(number)).encode()) }
    link.closeEnd(link.worker)
    for number in 0..<10 {
      let received = try #require(try link.host.arrived())
      #expect(try WorkerMessage(decoding: received) == .dropped(lines: UInt64(number)))
    }
    #expect(throws: LinkError.closed) { try link.host.arrived() }
  }

  @Test("a full socket without a wait takes what it has room for, and the rest later", arguments: [64, 30_000, 100_000])
  func full(_ payload: Int) throws {
    let link = try TestLink()
    func message(_ number: Int) -> HostMessage {
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: payload)
      return .answer(number: UInt64(number), .bytes(bytes))
    }
    var (sent, datagrams, parts) = (0, 0, MessageParts())
    while try link.host.send(message(sent).encode(), after: &datagrams) { (sent, datagrams) = (sent + 1, 0) }
    #expect(sent >= 1)
    #expect(try !link.host.send(message(sent).encode(), after: &datagrams))
    for number in 0..<sent {
      let received = try #require(try link.worker.receive(into: &parts))
      #expect(try HostMessage(decoding: received) == message(number))
    }
    #expect(try link.worker.receive(into: &parts) == nil)
    #expect(try link.host.send(message(sent).encode(), after: &datagrams))
    let received = try #require(try link.worker.receive(into: &parts))
    #expect(try HostMessage(decoding: received) == message(sent))
  }

  @Test("a thread that waits for room or for a message goes on when there is one", arguments: [false, true])
  func waits(_ nonBlocking: Bool) async throws {
    let link = try TestLink()
    if nonBlocking {
      for end in [link.host, link.worker] { #expect(fcntl(end.descriptor, F_SETFL, O_NONBLOCK) == 0) }
    }
    let worker = link.worker
    let messages = 2000
    let sent = OwnThread {
      (0..<messages).count { (try? worker.send(WorkerMessage.dropped(lines: UInt64($0)).encode())) != nil }
    }
    for number in 0..<messages {
      let received = try link.host.receive()
      #expect(try WorkerMessage(decoding: received) == .dropped(lines: UInt64(number)))
    }
    #expect(await sent.value == messages)
  }

  @Test("a thread that waits for room finds the link closed when its reader goes away")
  func readerGone() async throws {
    let link = try TestLink()
    let worker = link.worker
    let end = OwnThread { () -> LinkError? in
      do throws(LinkError) { while true { try worker.send(WorkerMessage.dropped(lines: 1).encode()) } } catch { return error }
      return nil
    }
    for _ in 0..<10 { _ = try link.host.receive() }
    link.closeEnd(link.host)
    #expect(await end.value == .closed)
  }

  @Test("a link that is disconnected lets its waiting threads go")
  func disconnected() async throws {
    let link = try TestLink()
    let host = link.host
    let end = OwnThread { () -> LinkError? in
      do throws(LinkError) { _ = try host.receive() } catch { return error }
      return nil
    }
    host.disconnect()
    #expect(await end.value == .closed)
    #expect(throws: LinkError.closed) { try link.worker.receive() }
  }

  @Test("what was sent before a link is disconnected is received, and nothing more is sent")
  func sentBefore() throws {
    let link = try TestLink()
    for lines in 1...3 { try link.worker.send(WorkerMessage.dropped(lines: UInt64(lines)).encode()) }
    link.host.disconnect()
    #expect(throws: LinkError.closed) { try link.worker.send(WorkerMessage.dropped(lines: 4).encode()) }
    for lines in 1...3 { #expect(try WorkerMessage(decoding: link.host.receive()) == .dropped(lines: UInt64(lines))) }
    #expect(throws: LinkError.closed) { try link.host.receive() }
  }

  @Test("messages of all sizes arrive whole while both ends send") func bothWays() async throws {
    let link = try TestLink()
    let (host, worker) = (link.host, link.worker)
    @Sendable func bytes(_ number: Int) -> [UInt8] { [UInt8](repeating: UInt8(number), count: number * 600) }
    let messages = 200
    let hosts = OwnThread {
      (0..<messages).count { (try? host.send(HostMessage.answer(number: 1, .bytes(bytes($0))).encode())) != nil }
    }
    let workers = OwnThread {
      (0..<messages).count { (try? worker.send(WorkerMessage.call(number: 1, .setCheckpoint(Samples.run, bytes($0))).encode())) != nil }
    }
    let arrived = OwnThread {
      (0..<messages).count { (try? HostMessage(decoding: worker.receive())) == .answer(number: 1, .bytes(bytes($0))) }
    }
    for number in 0..<messages {
      #expect(try WorkerMessage(decoding: host.receive()) == .call(number: 1, .setCheckpoint(Samples.run, bytes(number))))
    }
    for thread in [hosts, workers, arrived] { #expect(await thread.value == messages) }
  }

  @Test("a descriptor that is not a socket is an error of the system")
  func noSocket() throws {
    let file = TestMemfd()
    #expect(throws: LinkError.system(call: "recvmsg", code: ENOTSOCK)) { try LinkSocket(descriptor: file.descriptor).receive() }
    #expect(throws: LinkError.system(call: "send", code: ENOTSOCK)) {
      try LinkSocket(descriptor: file.descriptor).send(HostMessage.shutdown.encode())
    }
  }
}
