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
      #expect(try link.host.send(message.encode(), wait: true))
      let received = try #require(try link.worker.receive(wait: true))
      #expect(try HostMessage(decoding: received) == message)
    }
    for message in Samples.worker.prefix(20) { #expect(try link.worker.send(message.encode(), wait: true)) }
    for message in Samples.worker.prefix(20) {
      let received = try #require(try link.host.receive(wait: true))
      #expect(try WorkerMessage(decoding: received) == message)
    }
  }

  @Test(
    "a message of any size up to the largest arrives",
    arguments: [
      LinkFormat.inlineBytes - 1, LinkFormat.inlineBytes, LinkFormat.inlineBytes + 1, 1 << 20, LinkFormat.messageBytes,
    ])
  func sizes(_ bytes: Int) throws {
    let link = try TestLink()
    let message = EncodedMessage(bytes: [0x54, UInt8(LinkFormat.version), 3] + (3..<bytes).map { UInt8(truncatingIfNeeded: $0) })
    #expect(try link.worker.send(message, wait: true))
    #expect(try link.host.receive(wait: true)?.bytes == message.bytes)
  }

  @Test("a message beyond the largest is refused before it is sent")
  func tooBig() throws {
    let link = try TestLink()
    let message = EncodedMessage(bytes: [UInt8](repeating: 1, count: LinkFormat.messageBytes + 1))
    #expect(throws: LinkError.tooBig(bytes: message.bytes.count)) { try link.host.send(message, wait: true) }
    #expect(try link.worker.receive(wait: false) == nil)
  }

  @Test("with nothing to receive and no wait there is no message")
  func nothing() throws {
    let link = try TestLink()
    #expect(try link.host.receive(wait: false) == nil)
  }

  @Test("a peer that is gone is closed to sender and receiver")
  func gone() throws {
    let link = try TestLink()
    link.closeEnd(link.worker)
    #expect(throws: LinkError.closed) { try link.host.receive(wait: true) }
    #expect(throws: LinkError.closed) { try link.host.receive(wait: false) }
    #expect(throws: LinkError.closed) { try link.host.send(HostMessage.shutdown.encode(), wait: false) }
    #expect(throws: LinkError.closed) { try link.host.send(HostMessage.shutdown.encode(), wait: true) }
  }

  /// Passed without proving anything if the worker's end had nothing unread: only then the kernel reports a reset before the messages.
  @Test("what a worker sent before it died with unread orders is received")
  func lastWords() throws {
    let link = try TestLink()
    #expect(try link.host.send(HostMessage.shutdown.encode(), wait: true))
    for number in 0..<10 { #expect(try link.worker.send(WorkerMessage.dropped(lines: UInt64(number)).encode(), wait: true)) }
    link.closeEnd(link.worker)
    for number in 0..<10 {
      let received = try #require(try link.host.receive(wait: false))
      #expect(try WorkerMessage(decoding: received) == .dropped(lines: UInt64(number)))
    }
    #expect(throws: LinkError.closed) { try link.host.receive(wait: false) }
  }

  @Test("a full socket without a wait takes nothing and loses nothing", arguments: [64, 30_000, 100_000])
  func full(_ payload: Int) throws {
    let link = try TestLink()
    func message(_ number: Int) -> HostMessage {
      let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: payload)
      return .answer(number: UInt64(number), .bytes(bytes))
    }
    var sent = 0
    while try link.host.send(message(sent).encode(), wait: false) { sent += 1 }
    #expect(sent > 1)
    #expect(try !link.host.send(message(sent).encode(), wait: false))
    for number in 0..<sent {
      let received = try #require(try link.worker.receive(wait: false))
      #expect(try HostMessage(decoding: received) == message(number))
    }
    #expect(try link.worker.receive(wait: false) == nil)
    #expect(try link.host.send(message(sent).encode(), wait: false))
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
      (0..<messages).count { (try? worker.send(WorkerMessage.dropped(lines: UInt64($0)).encode(), wait: true)) == true }
    }
    for number in 0..<messages {
      let received = try #require(try link.host.receive(wait: true))
      #expect(try WorkerMessage(decoding: received) == .dropped(lines: UInt64(number)))
    }
    #expect(await sent.value == messages)
  }

  @Test("a thread that waits for room finds the link closed when its reader goes away")
  func readerGone() async throws {
    let link = try TestLink()
    let worker = link.worker
    let end = OwnThread { () -> LinkError? in
      do throws(LinkError) { while try worker.send(WorkerMessage.dropped(lines: 1).encode(), wait: true) {} } catch { return error }
      return nil
    }
    for _ in 0..<10 { #expect(try link.host.receive(wait: true) != nil) }
    link.closeEnd(link.host)
    #expect(await end.value == .closed)
  }

  @Test("a link that is disconnected lets its waiting threads go")
  func disconnected() async throws {
    let link = try TestLink()
    let host = link.host
    let end = OwnThread { () -> LinkError? in
      do throws(LinkError) { _ = try host.receive(wait: true) } catch { return error }
      return nil
    }
    host.disconnect()
    #expect(await end.value == .closed)
    #expect(throws: LinkError.closed) { try link.worker.receive(wait: true) }
  }

  @Test("many threads send at once and every message arrives whole")
  func crowd() async throws {
    let link = try TestLink()
    let worker = link.worker
    @Sendable func send(_ thread: Int) -> Int {
      (0..<200).count { number in
        let bytes = [UInt8](repeating: UInt8(thread), count: number * 300)
        return (try? worker.send(WorkerMessage.call(number: UInt64(thread), .setCheckpoint(Samples.run, bytes)).encode(), wait: true))
          == true
      }
    }
    let senders = (1...2).map { thread in OwnThread { send(thread) } }
    for _ in 0..<400 {
      let received = try #require(try link.host.receive(wait: true))
      guard case .call(let thread, .setCheckpoint(_, let bytes?)) = try WorkerMessage(decoding: received) else {
        Issue.record("another message arrived")
        return
      }
      #expect(bytes.allSatisfy { $0 == UInt8(thread) })
    }
    for sender in senders { #expect(await sender.value == 200) }
  }

  @Test("a descriptor that is not a socket is an error of the system")
  func noSocket() throws {
    let file = TestMemfd(bytes: 10)
    #expect(throws: LinkError.system(call: "recvmsg", code: ENOTSOCK)) { try LinkSocket(descriptor: file.descriptor).receive(wait: true) }
    #expect(throws: LinkError.system(call: "sendmsg", code: ENOTSOCK)) {
      try LinkSocket(descriptor: file.descriptor).send(HostMessage.shutdown.encode(), wait: true)
    }
  }
}
