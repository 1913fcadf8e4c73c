import Glibc
import HostThreads
import TaskModel

/// A connection to a control socket.
final class SocketLine: ByteLine {
  private let descriptor: Int32

  /// Connects. If the host's queue of waiting connections is full, this waits for room, because the host is only busy.
  ///
  /// - Parameter timeout: The maximum wait for room, and for the host to take the request.
  init(to path: String, timeout: Duration) throws(ConnectionFailure) {
    descriptor = SocketFile.connection(to: path, within: Int(timeout.components.seconds))
    guard descriptor >= 0 else { throw Self.failure(errno) }
  }

  deinit { close(descriptor) }

  private static func failure(_ code: Int32) -> ConnectionFailure {
    code == EAGAIN ? .late : ConnectionFailure(String(cString: strerror(code)))
  }

  /// The process that opened the host's socket, as the kernel numbers it here; 0 if it has no number here.
  var peerProcess: Int32 {
    // `struct ucred`, which Swift's Glibc module lacks: process, user, group.
    var credentials: (Int32, UInt32, UInt32) = (0, 0, 0)
    var size = socklen_t(MemoryLayout.size(ofValue: credentials))
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 ? credentials.0 : 0
  }

  func write(_ bytes: [UInt8]) throws(ConnectionFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EPIPE || errno == ECONNRESET {
        // The host may have answered before reading everything.
        return
      } else if errno != EINTR {
        throw Self.failure(errno)
      }
    }
  }

  func read(until deadline: MonotonicTime?) throws(ConnectionFailure) -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let deadline { try limitReads(to: deadline - SystemClock.now) }
      let count = recv(descriptor, &buffer, buffer.count, 0)
      if count >= 0 { return Array(buffer[..<count]) }
      // The kernel counts a limit in ticks, so a read may end a little before the deadline.
      guard errno == EINTR || errno == EAGAIN && deadline != nil else { throw Self.failure(errno) }
    }
  }

  func interrupt() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  private func limitReads(to left: Duration) throws(ConnectionFailure) {
    guard left > .zero else { throw .late }
    // Rounds up to a microsecond, because 0 would mean no limit.
    let (seconds, attoseconds) = (left + .nanoseconds(999)).components
    var limit = timeval(tv_sec: Int(seconds), tv_usec: Int(attoseconds / 1_000_000_000_000))
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }
}
