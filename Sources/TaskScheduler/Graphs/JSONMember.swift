import StrictText

/// A member of a JSON object, as text.
struct JSONMember {
  /// Its name, with escapes resolved.
  let name: [UInt8]
  /// Name, colon and value, unchanged.
  let text: ArraySlice<UInt8>

  /// The members of an object, in order; a name may occur several times.
  ///
  /// - Throws: If the text is not JSON or not an object.
  static func members(of bytes: [UInt8]) throws(JSONSyntaxError) -> [JSONMember] {
    var scanner = JSONScanner(bytes)
    var members: [JSONMember] = []
    scanner.skipBlanks()
    guard scanner.take("{") else { throw scanner.failure("an object begins with '{'") }
    scanner.skipBlanks()
    if !scanner.take("}") {
      repeat {
        scanner.skipBlanks()
        let start = scanner.position
        let name = try scanner.name()
        try scanner.skipValue()
        members.append(JSONMember(name: Array(name), text: bytes[start..<scanner.position]))
        scanner.skipBlanks()
      } while scanner.take(",")
      guard scanner.take("}") else { throw scanner.failure("',' or '}' is expected") }
    }
    scanner.skipBlanks()
    guard scanner.next == nil else { throw scanner.failure("the object has ended") }
    return members
  }
}

extension JSONScanner {
  /// Reads the name of a member, and skips to its value.
  fileprivate mutating func name() throws(JSONSyntaxError) -> ArraySlice<UInt8> {
    guard next == UInt8(ascii: "\"") else { throw failure("the name of a member is expected") }
    let name = try string()
    skipBlanks()
    guard take(":") else { throw failure("':' is expected") }
    skipBlanks()
    return name
  }

  /// Skips a value with everything in it. Keeps a list of open brackets instead of recursing.
  fileprivate mutating func skipValue() throws(JSONSyntaxError) {
    var open: [Unicode.Scalar] = []
    while true {
      switch next {
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        let isObject = take("{")
        if !isObject { _ = take("[") }
        skipBlanks()
        if !take(isObject ? "}" : "]") {
          open.append(isObject ? "}" : "]")
          if isObject { _ = try name() }
          continue
        }
      case UInt8(ascii: "\""): _ = try string()
      case UInt8(ascii: "t"): try word("true")
      case UInt8(ascii: "f"): try word("false")
      case UInt8(ascii: "n"): try word("null")
      case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): _ = try number()
      default: throw noValue()
      }
      // The value has ended, and perhaps enclosing values too.
      while let end = open.last {
        skipBlanks()
        if take(",") {
          skipBlanks()
          if end == "}" { _ = try name() }
          break
        }
        guard take(end) else { throw failure("',' or '\(end)' is expected") }
        open.removeLast()
      }
      if open.isEmpty { return }
    }
  }
}
