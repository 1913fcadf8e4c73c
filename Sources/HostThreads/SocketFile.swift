import Glibc

/// Finds out what is at a socket's path.
public enum SocketFile {
  /// What is at the path.
  public enum State: Sendable, Hashable {
    /// Nothing.
    case absent
    /// A socket on which nobody answers: its process is gone.
    case stale
    /// A socket of any kind on which somebody answers.
    case live
    /// Not a socket.
    case other
    /// Unknown; the system's message.
    case unknown(String)
  }

  /// Checks `path`. A live stream socket sees a connection that closes at once; a datagram socket sees nothing.
  public static func state(of path: String) -> State {
    var info = stat()
    guard lstat(path, &info) == 0 else { return errno == ENOENT ? .absent : .unknown("\(ErrorNumber.last)") }
    guard info.st_mode & S_IFMT == S_IFSOCK else { return .other }
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard descriptor >= 0 else { return .unknown("\(ErrorNumber.last)") }
    defer { close(descriptor) }
    guard connects(descriptor, to: path) else {
      switch errno {
      case ECONNREFUSED: return .stale
      // The queue is full, or the socket takes datagrams, not connections.
      case EAGAIN, EPROTOTYPE: return .live
      case ENOENT: return .absent
      default: return .unknown("\(ErrorNumber.last)")
      }
    }
    return .live
  }

  /// Connects to the socket, waiting up to `seconds` for room in its queue. Blocks; the kernel wakes it.
  ///
  /// - Returns: The descriptor, whose sends wait up to `seconds` as well; -1 with `errno` on failure.
  public static func connection(to path: String, within seconds: Int) -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return -1 }
    var limit = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    if connects(descriptor, to: path) { return descriptor }
    let code = errno
    close(descriptor)
    errno = code
    return -1
  }

  private static func connects(_ descriptor: Int32, to path: String) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let bytes = Array(path.utf8)
    let fits = withUnsafeMutableBytes(of: &address.sun_path) { field in
      guard bytes.count < field.count else { return false }
      field.copyBytes(from: bytes)
      return true
    }
    guard fits else {
      errno = ENAMETOOLONG
      return false
    }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
  }
}
