import Glibc
import TaskModel

/// The sentence that explains a thread's last status that was not OK, for `last_error`.
enum LastError {
  private static let capacity = 1024

  /// The key of thread-specific storage; nil if the process has none left, and then no sentence is kept.
  private static let key: pthread_key_t? = {
    var key = pthread_key_t()
    return pthread_key_create(&key, { free($0) }) == 0 ? key : nil
  }()

  /// Keeps `message`, cut to 1,023 bytes, for the calling thread.
  static func set(_ message: String) {
    guard let key else { return }
    let buffer: UnsafeMutablePointer<CChar>
    if let existing = pthread_getspecific(key) {
      buffer = existing.assumingMemoryBound(to: CChar.self)
    } else {
      guard let fresh = malloc(capacity) else { return }
      guard pthread_setspecific(key, fresh) == 0 else { return free(fresh) }
      buffer = fresh.bindMemory(to: CChar.self, capacity: capacity)
    }
    var message = message.cut(toBytes: capacity - 1)
    message.withUTF8 { bytes in
      for index in 0..<bytes.count { buffer[index] = CChar(bitPattern: bytes[index]) }
      buffer[bytes.count] = 0
    }
  }

  /// The calling thread's sentence; valid until its next call of a host function. Empty if it has none.
  static func get() -> UnsafePointer<CChar> {
    guard let key, let buffer = pthread_getspecific(key) else { return StaticText.empty }
    return UnsafePointer(buffer.assumingMemoryBound(to: CChar.self))
  }
}
