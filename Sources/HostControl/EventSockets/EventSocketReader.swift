import Glibc
import HostThreads
import Logging
import NIOPosix
import Synchronization
import TaskModel

/// Reads the event sockets on its own thread, which sleeps until something arrives.
final class EventSocketReader: Sendable {
  struct Source: Sendable {
    let name: String
    let socket: BoundSocket
    let flow: EventSocketFlow
  }

  private let sources: [Source]
  private let log: Logger
  private let pool = NIOThreadPool(numberOfThreads: 1)
  /// A byte written to `outer` wakes the thread, which polls `inner`.
  private let bell: (inner: Int32, outer: Int32)
  private let failed = Mutex<[String: Failure]>([:])

  /// Why a socket is no longer read.
  struct Failure: Sendable {
    let reason: String
    let since: WallTime
  }

  /// The sockets that are no longer read, by event name.
  var failures: [String: Failure] { failed.withLock { $0 } }

  /// Datagrams read from one socket before the others get their turns.
  private static let atOnce = 64
  /// Datagrams read from each socket at the end: more than the kernel holds for a Unix socket.
  private static let atLast = 1024

  /// nil with `errno` if no descriptor is available.
  init?(_ sources: [Source], log: Logger) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else { return nil }
    bell = (ends[0], ends[1])
    self.sources = sources
    self.log = log
  }

  deinit {
    close(bell.inner)
    close(bell.outer)
  }

  /// Call it once.
  func start() {
    pool.start()
    pool.submit { [self] state in
      if state == .active { read() }
    }
  }

  /// Checks the sockets again after one was replaced.
  func wake() {
    var byte: UInt8 = 0
    _ = send(bell.outer, &byte, 1, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
  }

  /// Whether the bell rang because reading ends.
  private var isOver: Bool {
    var bytes = [UInt8](repeating: 0, count: 64)
    return recv(bell.inner, &bytes, bytes.count, Int32(MSG_DONTWAIT)) == 0
  }

  /// Ends the thread, if it runs, after it has read what is there. Nothing is read afterwards.
  func stop() async {
    _ = shutdown(bell.outer, Int32(SHUT_RDWR))
    try? await pool.shutdownGracefully()
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: EventSocket.maximumBytes)
    var entries = [pollfd(fd: bell.inner, events: Int16(POLLIN), revents: 0)]
    entries += sources.map { pollfd(fd: $0.socket.descriptor, events: Int16(POLLIN), revents: 0) }
    while true {
      guard poll(&entries, nfds_t(entries.count), -1) >= 0 else {
        if errno == EINTR { continue }
        let reason = "poll: \(ErrorNumber.last)"
        for source in sources { fail(source, reason) }
        return log.error("events by sockets are not read any more: \(reason)")
      }
      if entries[0].revents != 0, isOver {
        for source in sources { _ = receive(from: source, &buffer, atMost: Self.atLast) }
        return
      }
      for (index, source) in sources.enumerated() where entries[index + 1].revents != 0 {
        guard let code = receive(from: source, &buffer) else { continue }
        // Skip it from now on: a socket that keeps failing would keep the thread awake.
        entries[index + 1].fd = -1
        let reason = "\(ErrorNumber(code))"
        fail(source, reason)
        log.error("event \(source.name): its socket is not read any more: \(reason): restart the host")
      }
    }
  }

  private func fail(_ source: Source, _ reason: String) {
    let failure = Failure(reason: reason, since: SystemClock().wallTime)
    failed.withLock { if $0[source.name] == nil { $0[source.name] = failure } }
  }

  /// Reads what is there; returns the error if the socket can no longer be read.
  private func receive(from source: Source, _ buffer: inout [UInt8], atMost limit: Int = atOnce) -> Int32? {
    for _ in 0..<limit {
      let count = buffer.withUnsafeMutableBytes { bytes in
        recv(source.socket.descriptor, bytes.baseAddress, bytes.count, Int32(MSG_DONTWAIT | MSG_TRUNC))
      }
      // With MSG_TRUNC the kernel returns the datagram's full length, not the bytes read.
      if count > buffer.count {
        source.flow.tally.add(to: \.tooLong)
      } else if count >= 0 {
        source.flow.take(Array(buffer[..<count]))
      } else {
        switch errno {
        case EAGAIN: return nil
        // The error of an earlier datagram of this address; reading has cleared it.
        case EINTR, ECONNREFUSED, EHOSTUNREACH, ENETUNREACH: continue
        case let code: return code
        }
      }
    }
    return nil
  }
}
