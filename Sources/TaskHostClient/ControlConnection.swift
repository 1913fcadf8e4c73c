import Glibc
import HostThreads
import TaskModel

/// A connection to a host for one request and its answer. Calls block.
package struct ControlConnection: ~Copyable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    fileprivate static func system(_ code: Int32) -> Failure {
      Failure(description: code == EAGAIN ? "no answer came in time" : String(cString: strerror(code)))
    }
  }

  private let descriptor: Int32

  /// Connects. If the host's queue of waiting connections is full, this waits for room, because the host is only busy.
  ///
  /// - Parameter timeout: The maximum wait for room, and for the host to take the request.
  package init(to socket: String, timeout: Duration) throws(Failure) {
    descriptor = SocketFile.connection(to: socket, within: Int(timeout.components.seconds))
    guard descriptor >= 0 else { throw .system(errno) }
  }

  deinit { close(descriptor) }

  /// The process that opened the host's socket, as the kernel numbers it here; 0 if it has no number here.
  package var peerProcess: Int32 {
    // `struct ucred`, which Swift's Glibc module lacks: process, user, group.
    var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials.0 : 0
  }

  package func send(_ method: String, _ path: String, _ body: [UInt8]?) throws(Failure) {
    var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    if body != nil { head += "Content-Type: application/json\r\n" }
    if body != nil || method != "GET" { head += "Content-Length: \(body?.count ?? 0)\r\n" }
    var rest = (Array((head + "\r\n").utf8) + (body ?? []))[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EPIPE || errno == ECONNRESET {
        // The host may have answered before reading everything.
        return
      } else if errno != EINTR {
        throw .system(errno)
      }
    }
  }

  /// Reads the answer.
  ///
  /// - Parameters:
  ///   - timeout: The maximum wait for the whole answer; nil for no limit.
  ///   - take: Called with the status and each part of the body. Returns false to stop reading.
  /// - Returns: The status.
  package func answer(timeout: Duration?, _ take: (_ status: Int, _ part: [UInt8]) -> Bool) throws -> Int {
    let deadline = timeout.map { ContinuousClock.now + $0 }
    var reader = AnswerReader()
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while !reader.hasEnded {
      if let deadline { try limitReads(to: deadline - .now) }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count >= 0 else {
        // The kernel counts a limit in ticks, so a read may end a little before the deadline.
        if errno == EINTR || (errno == EAGAIN && deadline != nil) { continue }
        throw Failure.system(errno)
      }
      guard count > 0 else {
        if reader.mayEnd { break }
        throw Failure(description: "the connection ended before the answer was complete")
      }
      let part = try reader.take(buffer[..<count])
      if !part.isEmpty, !take(reader.status, part) { break }
    }
    return reader.status
  }

  private func limitReads(to left: Duration) throws(Failure) {
    guard left > .zero else { throw .system(EAGAIN) }
    // Rounds up to a microsecond, because 0 would mean no limit.
    let (seconds, attoseconds) = (left + .nanoseconds(999)).components
    var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }
}
