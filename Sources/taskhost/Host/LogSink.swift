import Glibc

/// Where the lines of the log go.
protocol LogSink: Sendable {
  /// Writes as much as possible; waits for room.
  ///
  /// - Parameter lines: Whole lines, each with its line end.
  /// - Returns: The number of bytes written, and the error that stopped it.
  func write(_ lines: [UInt8]) -> (written: Int, failure: Int32?)
}

/// A file, a pipe or a terminal.
///
/// The descriptor keeps its flags: the program that started the host may share it, so `O_NONBLOCK` would also change that program's terminal or
/// pipe.
struct DescriptorSink: LogSink {
  let descriptor: Int32

  func write(_ lines: [UInt8]) -> (written: Int, failure: Int32?) {
    var written = 0
    while written < lines.count {
      let count = lines.withUnsafeBytes { lines in
        Glibc.write(descriptor, lines.baseAddress?.advanced(by: written), lines.count - written)
      }
      if count > 0 {
        written += count
        continue
      }
      let code = count < 0 ? errno : EIO
      switch code {
      case EINTR: continue
      case EAGAIN:
        // Another process made the shared description non-blocking.
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&room, 1, -1)
      default: return (written, code)
      }
    }
    return (written, nil)
  }
}
