import CTaskHost
import TaskHostSDK

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Turns what a plugin lends for the length of a call into values of ours.
enum Borrowed {
  static let payloadLimit = 65_536
  static let valueLimit = 1_048_576
  static let keyLimit = 256
  private static let messageLimit = 8192

  /// A NUL-terminated text of at most `limit` bytes in valid UTF-8.
  static func text(_ pointer: UnsafePointer<CChar>?, named name: String, limit: Int) throws(CallFailure) -> String {
    guard let text = try optionalText(pointer, named: name, limit: limit) else { throw CallFailure(TASKHOST_EINVAL, "\(name) is NULL") }
    return text
  }

  /// As ``text(_:named:limit:)``, `nil` for NULL.
  static func optionalText(_ pointer: UnsafePointer<CChar>?, named name: String, limit: Int) throws(CallFailure) -> String? {
    guard let pointer else { return nil }
    let length = strnlen(pointer, limit + 1)
    guard length <= limit else { throw CallFailure(TASKHOST_EINVAL, "\(name) is longer than \(limit) bytes") }
    let bytes = UnsafeRawBufferPointer(start: pointer, count: length)
    guard let text = String(validating: bytes, as: UTF8.self) else { throw CallFailure(TASKHOST_EINVAL, "\(name) is not valid UTF-8") }
    return text
  }

  /// A task's identifier: 1 to 128 of `A-Z a-z 0-9 . _ -`, the first a letter or digit.
  static func identifier(_ pointer: UnsafePointer<CChar>?) throws(CallFailure) -> String {
    let text = try text(pointer, named: "identifier", limit: 1024)
    let bytes = text.utf8
    let isAllowed = { (byte: UInt8) in Self.isLetterOrDigit(byte) || byte == 0x2E || byte == 0x5F || byte == 0x2D }
    guard let first = bytes.first, bytes.count <= 128, isLetterOrDigit(first), bytes.allSatisfy(isAllowed) else {
      throw CallFailure(
        TASKHOST_EINVAL,
        "\"\(text.prefix(160).description.escapingControlCharacters)\" is no identifier: use 1 to 128 of A-Z a-z 0-9 . _ -, "
          + "the first a letter or digit"
      )
    }
    return text
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x61...0x7A).contains(byte) || (0x41...0x5A).contains(byte) || (0x30...0x39).contains(byte)
  }

  /// A key of an identifier's state: 1 to 256 bytes.
  static func key(_ pointer: UnsafePointer<CChar>?) throws(CallFailure) -> String {
    guard let pointer else { throw CallFailure(TASKHOST_EINVAL, "key is NULL") }
    guard strnlen(pointer, keyLimit + 1) <= keyLimit else { throw CallFailure(TASKHOST_ETOOBIG, "key is longer than \(keyLimit) bytes") }
    let key = try text(pointer, named: "key", limit: keyLimit)
    guard !key.isEmpty else { throw CallFailure(TASKHOST_EINVAL, "key is empty") }
    return key
  }

  /// Text for people: bad UTF-8 replaced, control characters escaped, and what is then longer than 8 KiB cut and marked.
  static func message(_ pointer: UnsafePointer<CChar>?, named name: String) throws(CallFailure) -> String {
    guard let pointer else { throw CallFailure(TASKHOST_EINVAL, "\(name) is NULL") }
    let length = strnlen(pointer, messageLimit + 1)
    let escaped = String(decoding: UnsafeRawBufferPointer(start: pointer, count: length), as: UTF8.self).escapingControlCharacters
    guard escaped.utf8.count > messageLimit else { return escaped }
    return escaped.cut(toBytes: messageLimit) + " … (cut at \(messageLimit) bytes)"
  }

  /// `length` bytes from `pointer`, which may be NULL only for none. A negative length is a `size_t` of 2⁶³ and more.
  static func bytes(_ pointer: UnsafeRawPointer?, _ length: Int, named name: String, limit: Int) throws(CallFailure) -> [UInt8] {
    guard length >= 0, length <= limit else {
      throw CallFailure(TASKHOST_ETOOBIG, "\(name) has \(UInt(bitPattern: length)) bytes, more than \(limit)")
    }
    guard length > 0 else { return [] }
    guard let pointer else { throw CallFailure(TASKHOST_EINVAL, "\(name) is NULL with a length of \(length)") }
    return [UInt8](UnsafeRawBufferPointer(start: pointer, count: length))
  }

  /// A copy of a struct that begins with its own size: version 1 or any later one whose further fields are zero.
  static func structure<Structure: BitwiseCopyable>(
    _ pointer: UnsafePointer<Structure>?, named name: String, empty: Structure
  ) throws(CallFailure) -> Structure {
    guard let pointer else { throw CallFailure(TASKHOST_EINVAL, "\(name) is NULL") }
    let known = MemoryLayout<Structure>.size
    let raw = UnsafeRawPointer(pointer)
    let size = Int(raw.loadUnaligned(as: UInt32.self))
    guard size >= known, size <= 4096 else {
      throw CallFailure(TASKHOST_EINVAL, "\(name) has struct_size \(size); use sizeof(taskhost_\(name)), which is \(known) here")
    }
    for offset in stride(from: known, to: size, by: 1) where raw.load(fromByteOffset: offset, as: UInt8.self) != 0 {
      throw CallFailure(TASKHOST_EUNSUPPORTED, "\(name) sets fields that this host does not know")
    }
    var copy = empty
    withUnsafeMutableBytes(of: &copy) { $0.copyMemory(from: UnsafeRawBufferPointer(start: raw, count: known)) }
    return copy
  }

  /// What a plugin submits.
  static func request(_ pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) -> SubmittedRequest {
    let raw = try structure(pointer, named: "request", empty: taskhost_request())
    let conditions = Conditions(rawValue: raw.conditions)
    guard Conditions.all.isSuperset(of: conditions) else {
      throw CallFailure(TASKHOST_EINVAL, "conditions has bits that are not defined: \(raw.conditions)")
    }
    guard let onConflict = ConflictPolicy(code: raw.on_conflict) else {
      throw CallFailure(TASKHOST_EINVAL, "on_conflict \(raw.on_conflict) is not defined")
    }
    guard raw.reserved == 0 else { throw CallFailure(TASKHOST_EINVAL, "reserved is \(raw.reserved); it must be 0") }
    // The test runs what is submitted when it wants to: a pace is as no time.
    let begin = raw.earliest_begin_unix_ms == Int64(TASKHOST_BEGIN_PACED) ? 0 : raw.earliest_begin_unix_ms
    guard begin >= 0 else { throw CallFailure(TASKHOST_EINVAL, "earliest_begin_unix_ms is negative") }
    let uniqueKey = try optionalText(raw.unique_key, named: "unique_key", limit: keyLimit)
    guard uniqueKey?.isEmpty != true else { throw CallFailure(TASKHOST_EINVAL, "unique_key is empty; pass NULL for none") }
    guard uniqueKey != nil || onConflict == .none else { throw CallFailure(TASKHOST_EINVAL, "on_conflict needs a unique_key") }
    return SubmittedRequest(
      identifier: try identifier(raw.identifier),
      payload: try bytes(raw.payload, Int(truncatingIfNeeded: raw.payload_length), named: "payload", limit: payloadLimit),
      earliestBeginUnixMilliseconds: begin == 0 ? nil : begin,
      uniqueKey: uniqueKey, onConflict: onConflict, conditions: conditions)
  }
}
