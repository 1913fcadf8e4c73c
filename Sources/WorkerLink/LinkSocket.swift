import CTaskHostSystem
import Glibc

/// One end of a link: a Unix socket that preserves message boundaries (`SOCK_SEQPACKET`).
///
/// It does not own its descriptor, which its creator closes after the last call. A thread may send while another one receives; messages
/// arrive whole and in order.
public struct LinkSocket: Sendable, Hashable {
  /// The socket; not owned.
  public let descriptor: Int32

  /// Wraps a descriptor.
  public init(descriptor: Int32) { self.descriptor = descriptor }

  /// Creates both ends of a new link, close-on-exec and blocking. The caller owns both descriptors.
  public static func pair() throws(LinkError) -> (host: Int32, worker: Int32) {
    var ends: (Int32, Int32) = (-1, -1)
    let answer = withUnsafeMutablePointer(to: &ends) {
      $0.withMemoryRebound(to: Int32.self, capacity: 2) { taskhost_system_pair($0) }
    }
    guard answer == 0 else { throw .system(call: "socketpair", code: errno) }
    return (ends.0, ends.1)
  }

  /// Sends a message, and waits for room in the socket. One thread sends at a time.
  ///
  /// - Throws: ``LinkError/closed``, ``LinkError/tooBig(bytes:)``, ``LinkError/system(call:code:)``.
  public func send(_ message: EncodedMessage) throws(LinkError) {
    var sent = 0
    _ = try send(message, after: &sent, wait: true)
  }

  /// Sends as much of a message as there is room for. One thread sends at a time, and this message before another.
  ///
  /// - Parameter sent: How many of its datagrams have been sent: 0 at first.
  /// - Returns: Whether all of it has been sent.
  /// - Throws: As ``send(_:)``.
  public func send(_ message: EncodedMessage, after sent: inout Int) throws(LinkError) -> Bool {
    try send(message, after: &sent, wait: false)
  }

  private func send(_ message: EncodedMessage, after sent: inout Int, wait: Bool) throws(LinkError) -> Bool {
    let bytes = message.bytes
    guard bytes.count <= LinkFormat.messageBytes else { throw .tooBig(bytes: bytes.count) }
    let count = MessageParts.count(of: bytes)
    while sent < count {
      guard try send(count == 1 ? bytes : MessageParts.datagram(sent, of: bytes), wait: wait) else { return false }
      sent += 1
    }
    return true
  }

  /// Waits for the next message. One thread receives at a time.
  ///
  /// - Throws: As ``receive(into:)``.
  public func receive() throws(LinkError) -> ReceivedMessage {
    var parts = MessageParts()
    while true {
      if let datagram = try datagram(wait: true), let message = try parts.add(datagram) { return message }
    }
  }

  /// Receives what has arrived, up to the end of a message. One thread receives at a time.
  ///
  /// - Parameter parts: Has what has arrived of a message; the same at each call.
  /// - Returns: nil if no message has arrived whole.
  /// - Throws: ``LinkError/closed`` after the last message of a closed end; ``LinkError/malformed(what:)`` for a datagram that no honest
  ///   end sends; ``LinkError/system(call:code:)``.
  public func receive(into parts: inout MessageParts) throws(LinkError) -> ReceivedMessage? {
    while let datagram = try datagram(wait: false) {
      if let message = try parts.add(datagram) { return message }
    }
    return nil
  }

  /// Ends the link in both directions: waiting threads at either end find it closed. Messages already sent are still received.
  public func disconnect() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func send(_ datagram: [UInt8], wait: Bool) throws(LinkError) -> Bool {
    while true {
      let sent = datagram.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(wait ? MSG_NOSIGNAL : MSG_NOSIGNAL | MSG_DONTWAIT))
      }
      if sent >= 0 { return true }
      switch errno {
      case EINTR: continue
      case EPIPE, ECONNRESET, ECONNREFUSED, ENOTCONN: throw .closed
      case EAGAIN where !wait: return false
      // The descriptor does not block, so wait for room.
      case EAGAIN: try self.wait(for: Int16(POLLOUT))
      case let code: throw .system(call: "send", code: code)
      }
    }
  }

  private func datagram(wait: Bool) throws(LinkError) -> [UInt8]? {
    while true {
      var attached: Int32 = -1
      var code: Int32 = 0
      var received = 0
      let bytes = withUnsafeTemporaryAllocation(byteCount: LinkFormat.datagramBytes, alignment: 16) { buffer -> [UInt8] in
        received = taskhost_system_receive(
          descriptor, buffer.baseAddress, buffer.count, &attached, wait ? 0 : Int32(MSG_DONTWAIT))
        code = errno
        return Array(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, received)]))
      }
      if attached >= 0 { close(attached) }
      if received == 0 { throw attached < 0 && isHungUp ? .closed : .malformed(what: "it is empty") }
      if attached >= 0 { throw .malformed(what: "it comes with a descriptor") }
      if received > 0 { return bytes }
      switch code {
      case EINTR: continue
      // The other end closed with unread messages. The kernel reports this once, before the messages that it had sent.
      case ECONNRESET: continue
      case EAGAIN where !wait: return nil
      case EAGAIN: try self.wait(for: Int16(POLLIN))
      case ENOTCONN: throw .closed
      case EBADMSG: throw .malformed(what: "it is larger than a datagram may be, or comes with descriptors")
      default: throw .system(call: "recvmsg", code: code)
      }
    }
  }

  /// Whether the other end is closed, which distinguishes the end of the stream from an empty datagram.
  private var isHungUp: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLHUP) != 0
  }

  private func wait(for event: Int16) throws(LinkError) {
    var entry = pollfd(fd: descriptor, events: event, revents: 0)
    guard poll(&entry, 1, -1) < 0, errno != EINTR else { return }
    throw .system(call: "poll", code: errno)
  }
}
