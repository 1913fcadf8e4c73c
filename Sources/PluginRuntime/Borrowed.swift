import Glibc
import TaskModel

/// Turns what a plugin lends for the length of a call into values of ours.
enum Borrowed {
  /// A NUL-terminated text of at most `limit` bytes in valid UTF-8.
  static func text(_ pointer: UnsafePointer<CChar>?, named name: String, limit: Int) throws(CallFailure) -> String {
    guard let text = try optionalText(pointer, named: name, limit: limit) else { throw CallFailure(.invalid, "\(name) is NULL") }
    return text
  }

  /// As ``text(_:named:limit:)``, nil for NULL.
  static func optionalText(_ pointer: UnsafePointer<CChar>?, named name: String, limit: Int) throws(CallFailure) -> String? {
    guard let pointer else { return nil }
    let length = strnlen(pointer, limit + 1)
    guard length <= limit else { throw CallFailure(.invalid, "\(name) is longer than \(limit) bytes") }
    let bytes = UnsafeRawBufferPointer(start: pointer, count: length)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw CallFailure(.invalid, "\(name) is not valid UTF-8") }
    return text
  }

  /// Text for people: cut to `limit` bytes and marked where it is longer, bad UTF-8 replaced, control characters escaped.
  static func message(_ pointer: UnsafePointer<CChar>?, named name: String) throws(CallFailure) -> String {
    guard let pointer else { throw CallFailure(.invalid, "\(name) is NULL") }
    let limit = Limits.logMessageBytes
    let length = strnlen(pointer, limit + 1)
    let text = String(decoding: UnsafeRawBufferPointer(start: pointer, count: min(length, limit)), as: UTF8.self)
    return length > limit ? text.escapingControlCharacters + " … (cut at \(limit) bytes)" : text.escapingControlCharacters
  }

  /// `length` bytes from `pointer`, which may be NULL only for none.
  static func bytes(_ pointer: UnsafeRawPointer?, _ length: Int, named name: String, limit: Int) throws(CallFailure) -> [UInt8] {
    guard length >= 0, length <= limit else { throw CallFailure(.tooBig, "\(name) has \(UInt(bitPattern: length)) bytes, more than \(limit)") }
    guard length > 0 else { return [] }
    guard let pointer else { throw CallFailure(.invalid, "\(name) is NULL with a length of \(length)") }
    return [UInt8](UnsafeRawBufferPointer(start: pointer, count: length))
  }

  /// A copy of a struct that begins with its own size: version 1 or any later one whose further fields are zero.
  static func structure<Structure: BitwiseCopyable>(
    _ pointer: UnsafePointer<Structure>?, named name: String, empty: Structure
  ) throws(CallFailure) -> Structure {
    guard let pointer else { throw CallFailure(.invalid, "\(name) is NULL") }
    let known = MemoryLayout<Structure>.size
    let raw = UnsafeRawPointer(pointer)
    let size = Int(raw.loadUnaligned(as: UInt32.self))
    guard size >= known, size <= 4096 else {
      throw CallFailure(.invalid, "\(name) has struct_size \(size); use sizeof(taskhost_\(name)), which is \(known) here")
    }
    for offset in stride(from: known, to: size, by: 1) where raw.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw CallFailure(.unsupported, "\(name) sets fields that this host does not know: install a newer taskhost")
    }
    var copy = empty
    withUnsafeMutableBytes(of: &copy) { $0.copyMemory(from: UnsafeRawBufferPointer(start: raw, count: known)) }
    return copy
  }
}
