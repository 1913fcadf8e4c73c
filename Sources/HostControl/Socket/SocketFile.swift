import Glibc
import HostThreads

/// Looks at what is at a socket's path.
public enum SocketFile {
  /// What is there.
  public enum State: Sendable, Hashable {
    /// Nothing.
    case absent
    /// A stale socket: no process answers.
    case stale
    /// A live socket of any type.
    case live
    /// No socket.
    case other
    /// Unknown; the system's error text.
    case unknown(String)
  }

  /// What is at `path`. A live socket sees a connection that is closed at once, one for datagrams sees nothing.
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
      // A queue that is full, and a socket that is bound but takes datagrams, not connections.
      case EAGAIN, EPROTOTYPE: return .live
      case ENOENT: return .absent
      default: return .unknown("\(ErrorNumber.last)")
      }
    }
    return .live
  }

  /// A connection to the socket, which waits for room in its queue at most so many seconds. Blocks; the kernel wakes it.
  ///
  /// - Returns: The descriptor, whose sends wait no longer either; -1 and `errno` if there is none.
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
