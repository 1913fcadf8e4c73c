internal import Glibc

/// Owns an open descriptor and closes it at the end of its life.
struct Descriptor: ~Copyable {
  /// Borrowed: never to be closed by others.
  let raw: Int32

  /// Takes ownership of a descriptor; throws if the result is a negative `errno`.
  init(_ result: Int32) throws(SystemError) {
    guard result >= 0 else { throw SystemError(code: -result) }
    raw = result
  }

  deinit { close(raw) }
}
