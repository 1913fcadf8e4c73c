internal import Glibc

/// Owns one open descriptor, and closes it at the end of its life.
struct Descriptor: ~Copyable {
  /// Borrowed: never to be closed by others.
  let raw: Int32

  /// Takes over a descriptor, or throws the negative `errno` that came in its place.
  init(_ result: Int32) throws(SystemError) {
    guard result >= 0 else { throw SystemError(code: -result) }
    raw = result
  }

  deinit { close(raw) }
}
