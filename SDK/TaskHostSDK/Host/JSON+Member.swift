extension JSON {
  /// The bytes of a member's value in a JSON object, as they stand there. The object is valid and has no escapes in its names: the host
  /// wrote it.
  ///
  /// - Returns: `nil` if there is no such member.
  static func member(_ name: String, of object: [UInt8]) -> ArraySlice<UInt8>? {
    let wanted = Array("\"\(name)\":".utf8)
    var depth = 0
    var index = object.startIndex
    while index < object.endIndex {
      switch object[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      case UInt8(ascii: "\""):
        if depth == 1, object[index...].starts(with: wanted) { return value(in: object[(index + wanted.count)...]) }
        index = endOfString(in: object[...], from: index)
      default: break
      }
      index += 1
    }
    return nil
  }

  /// The value at the beginning: it ends before the next comma or end outside of it.
  private static func value(in rest: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    var depth = 0
    var index = rest.startIndex
    while index < rest.endIndex {
      switch rest[index] {
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return rest[..<index] }
        depth -= 1
      case UInt8(ascii: ",") where depth == 0: return rest[..<index]
      case UInt8(ascii: "\""): index = endOfString(in: rest, from: index)
      default: break
      }
      index += 1
    }
    return rest
  }

  /// The index of the quotation mark that ends the string which begins at `start`; the last index if none does.
  private static func endOfString(in bytes: ArraySlice<UInt8>, from start: Int) -> Int {
    var index = start + 1
    while index < bytes.endIndex, bytes[index] != UInt8(ascii: "\"") { index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1 }
    return min(index, bytes.endIndex - 1)
  }
}
