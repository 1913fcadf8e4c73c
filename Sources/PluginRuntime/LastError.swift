import Glibc

/// The sentence that explains a thread's last status that was not OK, for `last_error`.
enum LastError {
  private static let capacity = 1024

  /// The slot of thread-specific storage; nil when the process has none left, and then no sentence is kept.
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
      pthread_setspecific(key, fresh)
      buffer = fresh.bindMemory(to: CChar.self, capacity: capacity)
    }
    var message = message
    message.withUTF8 { bytes in
      let count = min(bytes.count, capacity - 1)
      for index in 0..<count { buffer[index] = CChar(bitPattern: bytes[index]) }
      buffer[count] = 0
    }
  }

  /// The calling thread's sentence; valid until it sets another. Empty if it has none.
  static func get() -> UnsafePointer<CChar> {
    guard let key, let buffer = pthread_getspecific(key) else { return StaticText.empty }
    return UnsafePointer(buffer.assumingMemoryBound(to: CChar.self))
  }
}

/// Texts that live as long as the process, for answers that are never NULL.
enum StaticText {
  // reason: written once before anybody can see it, never freed, never written again
  nonisolated(unsafe) static let empty: UnsafePointer<CChar> = make("")

  /// A copy of `text` that is never freed.
  static func make(_ text: String) -> UnsafePointer<CChar> {
    let bytes = Array(text.utf8CString)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    copy.initialize(from: bytes, count: bytes.count)
    return UnsafePointer(copy)
  }
}
