import Glibc
import Synchronization

/// A pipe of which a child inherits one end, and no other child any.
public struct Channel {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    try Self.inheritance.withLock { _ in
      guard pipe(&ends) == 0 else { throw TestFailure("pipe: \(String(cString: strerror(errno)))") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  /// Held while a process is started, and while there are descriptors that it would inherit by accident.
  static let inheritance = Mutex(())

  /// Reads to the end; a signal that interrupts it does no harm.
  public static func readAll(_ descriptor: Int32, _ take: (ArraySlice<UInt8>) throws -> Void) throws {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = read(descriptor, &buffer, buffer.count)
      if count == 0 { return }
      if count < 0 {
        if errno == EINTR { continue }
        throw TestFailure("read: \(String(cString: strerror(errno)))")
      }
      try take(buffer[..<count])
    }
  }
}
