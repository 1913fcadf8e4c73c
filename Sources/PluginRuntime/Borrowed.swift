import Glibc
import TaskModel

/// Copies memory that a plugin lends for the duration of a call.
enum Borrowed {
  /// A NUL-terminated text of at most `limit` bytes in valid UTF-8.
  static func text(_ pointer: UnsafePointer<CChar>?, named name: String, limit: Int) throws(CallFailure) -> String {
    guard let text = try optionalText(pointer, named: name, limit: limit) else { throw CallFailure(.invalid, "\(name) is NULL") }
    return text
  }

  /// As ``text(_:named:limit:)``, but nil for NULL.
  static func optionalText(_ pointer: UnsafePointer<CChar>?, named name: String, limit: Int) throws(CallFailure) -> String? {
    guard let pointer else { return nil }
    let length = strnlen(pointer, limit + 1)
    guard length <= limit else { throw CallFailure(.invalid, "\(name) is longer than \(limit) bytes") }
    let bytes = UnsafeRawBufferPointer(start: pointer, count: length)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw CallFailure(.invalid, "\(name) is not valid UTF-8") }
    return text
  }

  /// A task's identifier.
  static func identifier(_ pointer: UnsafePointer<CChar>?) throws(CallFailure) -> TaskIdentifier {
    let text = try text(pointer, named: "identifier", limit: 1024)
    do { return try TaskIdentifier(text) } catch { throw CallFailure(.invalid, error.description) }
  }

  /// A key of an identifier's state: 1 to 256 bytes.
  static func key(_ pointer: UnsafePointer<CChar>?) throws(CallFailure) -> String {
    guard let pointer else { throw CallFailure(.invalid, "key is NULL") }
    guard strnlen(pointer, Limits.keyBytes + 1) <= Limits.keyBytes else {
      throw CallFailure(.tooBig, "key is longer than \(Limits.keyBytes) bytes")
    }
    let key = try text(pointer, named: "key", limit: Limits.keyBytes)
    guard !key.isEmpty else { throw CallFailure(.invalid, "key is empty") }
    return key
  }

  /// Text for people: invalid UTF-8 is replaced, control characters are escaped, and a result longer than `limit` bytes is cut and marked.
  static func message(
    _ pointer: UnsafePointer<CChar>?, named name: String, limit: Int = Limits.logMessageBytes
  ) throws(CallFailure) -> String {
    guard let pointer else { throw CallFailure(.invalid, "\(name) is NULL") }
    // Reads at most one byte past the limit: a longer text is cut and marked.
    let length = strnlen(pointer, limit + 1)
    return PluginText.line(String(decoding: UnsafeRawBufferPointer(start: pointer, count: length), as: UTF8.self), limit: limit)
  }

  /// `length` bytes from `pointer`, which may be NULL only if `length` is 0. A negative length is a `size_t` of 2⁶³ or more.
  static func bytes(_ pointer: UnsafeRawPointer?, _ length: Int, named name: String, limit: Int) throws(CallFailure) -> [UInt8] {
    guard length >= 0, length <= limit else {
      throw CallFailure(.tooBig, "\(name) has \(UInt(bitPattern: length)) bytes, more than \(limit)")
    }
    guard length > 0 else { return [] }
    guard let pointer else { throw CallFailure(.invalid, "\(name) is NULL with a length of \(length)") }
    return [UInt8](UnsafeRawBufferPointer(start: pointer, count: length))
  }

  /// A copy of a struct that begins with its own size: version 1, a later one with its further members zero, or one that lacks the last
  /// members, which are then zero in the copy.
  ///
  /// - Parameter first: The size in version 1; nil if the struct has not grown since.
  static func structure<Structure: BitwiseCopyable>(
    _ pointer: UnsafePointer<Structure>?, named name: String, empty: Structure, first: Int? = nil
  ) throws(CallFailure) -> Structure {
    guard let pointer else { throw CallFailure(.invalid, "\(name) is NULL") }
    let known = MemoryLayout<Structure>.size
    let raw = UnsafeRawPointer(pointer)
    let size = Int(raw.loadUnaligned(as: UInt32.self))
    // Whole words: half a pointer must not be taken for one.
    let isWhole = size >= known || size % MemoryLayout<Structure>.alignment == 0
    guard size >= first ?? known, size <= 4096, isWhole else {
      throw CallFailure(.invalid, "\(name) has struct_size \(size); use sizeof(taskhost_\(name)), which is \(known) here")
    }
    for offset in stride(from: known, to: size, by: 1) where raw.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw CallFailure(.unsupported, "\(name) sets fields that this host does not know: install a newer taskhost")
    }
    var copy = empty
    withUnsafeMutableBytes(of: &copy) { $0.copyMemory(from: UnsafeRawBufferPointer(start: raw, count: min(size, known))) }
    return copy
  }
}
