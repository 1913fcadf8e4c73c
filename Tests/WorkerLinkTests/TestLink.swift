import CTaskHostSystem
import Glibc
import TestSupport
import Testing
import WorkerLink

/// A link whose ends are closed with it.
final class TestLink {
  let host: LinkSocket
  let worker: LinkSocket
  private var open: Set<Int32>

  init() throws {
    let pair = try LinkSocket.pair()
    host = LinkSocket(descriptor: pair.host)
    worker = LinkSocket(descriptor: pair.worker)
    open = [pair.host, pair.worker]
  }

  deinit { open.forEach { close($0) } }

  /// Closes an end before the link's own time.
  func closeEnd(_ end: LinkSocket) {
    if open.remove(end.descriptor) != nil { close(end.descriptor) }
  }

  /// Sends a datagram past the encoder, from the worker's end, with descriptors.
  func sendRaw(_ bytes: [UInt8], attaching descriptors: [Int32] = []) {
    let sent = TestSupport.send(bytes, attaching: descriptors, on: worker.descriptor)
    #expect(sent == bytes.count)
  }

  /// The descriptors of this process that are memfds with that name.
  static func memfds(named name: String) -> Int {
    // Tests that run beside this one have many open.
    (0..<16_384).filter { descriptor in
      var buffer = [CChar](repeating: 0, count: 256)
      let length = readlink("/proc/self/fd/\(descriptor)", &buffer, buffer.count - 1)
      guard length > 0 else { return false }
      return String(decoding: buffer[..<length].map(UInt8.init(bitPattern:)), as: UTF8.self).contains("memfd:\(name) ")
    }.count
  }
}

extension LinkSocket {
  /// A message that has arrived whole and at once.
  func arrived() throws(LinkError) -> ReceivedMessage? {
    var parts = MessageParts()
    return try receive(into: &parts)
  }
}

/// A memfd of a test, closed with it.
final class TestMemfd {
  let descriptor: Int32

  init(_ name: String = "test") {
    descriptor = taskhost_system_memfd(name)
    #expect(descriptor >= 0)
  }

  deinit { close(descriptor) }
}
