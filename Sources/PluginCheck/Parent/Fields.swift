/// Lists of byte strings as bytes: each `LENGTH:BYTES`, in brackets of a count. The format between the checker and its case processes.
enum Fields {
  /// Encodes fields.
  static func encode(_ fields: [[UInt8]]) -> [UInt8] {
    var bytes = Array("\(fields.count)\n".utf8)
    for field in fields {
      bytes += Array("\(field.count):".utf8)
      bytes += field
    }
    return bytes
  }

  /// As ``encode(_:)``, for texts.
  static func encode(_ texts: [String]) -> [UInt8] { encode(texts.map { Array($0.utf8) }) }

  /// Takes the next list from the beginning of `bytes`; nil if it is incomplete or malformed.
  static func take(from bytes: inout ArraySlice<UInt8>) -> [[UInt8]]? {
    var rest = bytes
    guard let count = number(before: UInt8(ascii: "\n"), in: &rest), count <= 64 else { return nil }
    var fields: [[UInt8]] = []
    for _ in 0..<count {
      guard let length = number(before: UInt8(ascii: ":"), in: &rest), length <= rest.count else { return nil }
      fields.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    bytes = rest
    return fields
  }

  private static func number(before mark: UInt8, in rest: inout ArraySlice<UInt8>) -> Int? {
    guard let end = rest.prefix(12).firstIndex(of: mark), let value = Int(String(decoding: rest[..<end], as: UTF8.self)), value >= 0 else {
      return nil
    }
    rest = rest[rest.index(after: end)...]
    return value
  }
}
