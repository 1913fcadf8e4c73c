/// The dynamic string table: names by offset.
struct ElfStrings: Sendable {
  /// The maximum length of a text in bytes: PATH_MAX.
  private static let limit = 4096

  let image: ElfImage
  let address: UInt64
  let size: UInt64

  /// The text at `offset`, which must end within the table, be UTF-8 and have no control characters.
  func string(at offset: UInt64, _ what: String) throws(Rejection) -> String {
    guard offset < size else { throw .malformed("\(what) is outside the string table") }
    let count = Int(min(size - offset, UInt64(Self.limit)))
    let bytes = try image.read(what, address: address + offset, count: count).bytes
    guard let end = bytes.firstIndex(of: 0) else { throw .malformed("\(what) has no end within \(Self.limit) bytes") }
    guard let text = String(validating: bytes[..<end], as: UTF8.self), !text.hasControlCharacters else {
      throw .malformed("\(what) is not UTF-8 text")
    }
    return text
  }

  /// Compares byte for byte.
  func matches(_ name: String, at offset: UInt64) throws(Rejection) -> Bool {
    let wanted = Array(name.utf8) + [0]
    guard offset < size, UInt64(wanted.count) <= size - offset else { return false }
    return try image.read("the name of a symbol", address: address + offset, count: wanted.count).bytes == wanted
  }
}
