import Glibc

/// A pipe of which a child is given one end.
public struct Channel {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw TestFailure("pipe: \(String(cString: strerror(errno)))") }
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

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
