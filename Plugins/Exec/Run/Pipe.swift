internal import CExec
import Glibc

/// A pipe between this process and a command.
struct Pipe {
  let read: Int32
  let write: Int32
  /// The bytes that a pipe holds (pipe(7)).
  static let capacity = 1 << 16

  enum Ours: Int32 {
    case reads = 0
    case writes = 1
  }

  /// - Parameter ours: The end that stays in this process, which does not block.
  private init(_ ours: Ours) throws(StartFailure) {
    var ends: [Int32] = [-1, -1]
    let code = taskhost_exec_pipe(&ends, ours.rawValue)
    guard code == 0 else { throw StartFailure(description: "no pipe: \(String(cString: strerror(-code)))", isTemporary: true) }
    (read, write) = (ends[0], ends[1])
  }

  /// Makes all, or none.
  static func make(_ kinds: [Ours]) throws(StartFailure) -> [Pipe] {
    var pipes: [Pipe] = []
    do throws(StartFailure) {
      for ours in kinds { pipes.append(try Pipe(ours)) }
    } catch {
      for pipe in pipes { pipe.close() }
      throw error
    }
    return pipes
  }

  func close() {
    _ = Glibc.close(read)
    _ = Glibc.close(write)
  }

  /// Reads what is there, at most about `limit` bytes.
  ///
  /// - Returns: Whether more may come: false at the end of the stream.
  static func drain(
    _ descriptor: Int32, through buffer: UnsafeMutableRawBufferPointer, limit: Int, _ take: (UnsafeRawBufferPointer) -> Void
  ) -> Bool {
    var total = 0
    while total < limit {
      let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      if count < 0 { return errno == EAGAIN }
      if count == 0 { return false }
      take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      total += count
    }
    return true
  }
}
