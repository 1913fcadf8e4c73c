import CTaskHostSystem
import Glibc

/// One end of a link: a Unix socket that preserves message boundaries (`SOCK_SEQPACKET`).
///
/// It does not own its descriptor, which its creator closes after the last call. Any number of threads may send and receive at once;
/// messages arrive whole, and those of one thread arrive in order.
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

  /// Sends a message.
  ///
  /// - Parameter wait: Whether to wait for room in the socket.
  /// - Returns: false if `wait` is false and there was no room; then nothing was sent.
  /// - Throws: ``LinkError/closed``, ``LinkError/tooBig(bytes:)``, ``LinkError/system(call:code:)``.
  public func send(_ message: EncodedMessage, wait: Bool) throws(LinkError) -> Bool {
    guard message.bytes.count > LinkFormat.inlineBytes else { return try send(message.bytes, attaching: -1, wait: wait) }
    let body = try SealedBody.make(message.bytes)
    defer { close(body) }
    return try send(SealedBody.announcement(of: message.bytes.count), attaching: body, wait: wait)
  }

  /// Receives the next message.
  ///
  /// - Parameter wait: Whether to wait for a message.
  /// - Returns: nil if `wait` is false and there is no message.
  /// - Throws: ``LinkError/closed`` after the last message of a closed end; ``LinkError/malformed(what:)`` for a datagram that no honest
  ///   end sends; ``LinkError/system(call:code:)``.
  public func receive(wait: Bool) throws(LinkError) -> ReceivedMessage? {
    guard let datagram = try datagram(wait: wait) else { return nil }
    guard datagram.body >= 0 else {
      guard !SealedBody.isAnnouncement(datagram.bytes) else { throw .malformed(what: "the descriptor it announces is missing") }
      return ReceivedMessage(bytes: datagram.bytes)
    }
    defer { close(datagram.body) }
    return ReceivedMessage(bytes: try SealedBody.content(of: datagram.body, announcedBy: datagram.bytes))
  }

  /// Ends the link in both directions: waiting threads at either end find it closed. Messages already sent are still received.
  public func disconnect() { _ = shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func send(_ bytes: [UInt8], attaching body: Int32, wait: Bool) throws(LinkError) -> Bool {
    while true {
      let sent = bytes.withUnsafeBytes {
        taskhost_system_send(descriptor, $0.baseAddress, $0.count, body, wait ? 0 : Int32(MSG_DONTWAIT))
      }
      if sent >= 0 { return true }
      switch errno {
      case EINTR: continue
      case EPIPE, ECONNRESET, ECONNREFUSED, ENOTCONN: throw .closed
      case EAGAIN where !wait: return false
      // The descriptor does not block, so wait for room.
      case EAGAIN: try self.wait(for: Int16(POLLOUT))
      // This user has too many descriptors in transit (RLIMIT_NOFILE). No event reports the arrival of one.
      case ETOOMANYREFS where !wait: return false
      case ETOOMANYREFS: usleep(1000)
      case let code: throw .system(call: "sendmsg", code: code)
      }
    }
  }

  /// The next datagram and its descriptor, which the caller owns; −1 if there is none.
  private func datagram(wait: Bool) throws(LinkError) -> (bytes: [UInt8], body: Int32)? {
    while true {
      var body: Int32 = -1
      var code: Int32 = 0
      var received = 0
      let bytes = withUnsafeTemporaryAllocation(byteCount: LinkFormat.inlineBytes, alignment: 16) { buffer -> [UInt8] in
        received = taskhost_system_receive(
          descriptor, buffer.baseAddress, buffer.count, &body, wait ? 0 : Int32(MSG_DONTWAIT))
        code = errno
        return Array(UnsafeRawBufferPointer(rebasing: buffer[..<max(0, received)]))
      }
      if received > 0 { return (bytes, body) }
      if received == 0 {
        if body >= 0 { close(body) }
        throw isHungUp ? .closed : .malformed(what: "it is empty")
      }
      switch code {
      case EINTR: continue
      // The other end closed with unread messages. The kernel reports this once, before the messages that it had sent.
      case ECONNRESET: continue
      case EAGAIN where !wait: return nil
      case EAGAIN: try self.wait(for: Int16(POLLIN))
      case ENOTCONN: throw .closed
      case EBADMSG: throw .malformed(what: "it is larger than a datagram may be, or comes with more than one descriptor")
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
