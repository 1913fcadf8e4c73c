import StrictText

extension JSONScanner {
  /// Reads a value of a payload in its written precision. Stops at the beginning of an array or object, so it never nests.
  mutating func payloadValue() throws(JSONSyntaxError) -> PayloadValue {
    switch next {
    case UInt8(ascii: "{"): return .object
    case UInt8(ascii: "["): return .array
    case UInt8(ascii: "\""): return .string(Array(try string()))
    case UInt8(ascii: "t"):
      try word("true")
      return .bool(true)
    case UInt8(ascii: "f"):
      try word("false")
      return .bool(false)
    case UInt8(ascii: "n"):
      try word("null")
      return .null
    case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try number())
    default: throw noValue()
    }
  }
}

/// Why a payload does not fit a signature.
public struct TypedPayloadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The argument, or the unknown name; nil for the payload as a whole.
  public let argument: String?
  /// What was seen, and what to do.
  public let flaw: String

  /// For example "argument horizon_s: 9223372036854775808 does not fit i64 (…)", or the flaw of the whole payload.
  public var description: String { argument.map { "argument \($0): \(flaw)" } ?? flaw }
}

/// A member's value in the payload, before it is converted to its argument's type.
enum PayloadValue {
  case null
  case bool(Bool)
  /// The number's JSON text.
  case number(ArraySlice<UInt8>)
  /// UTF-8 with escapes resolved.
  case string([UInt8])
  /// The content of an array or object is not read, because no argument accepts one.
  case array
  case object

  var kind: String {
    switch self {
    case .null: "null"
    case .bool(let truth): truth ? "true" : "false"
    case .number(let text): Self.shown(text)
    case .string: "a string"
    case .array: "an array"
    case .object: "an object"
    }
  }

  /// A number as written, cut if it is long.
  static func shown(_ text: ArraySlice<UInt8>) -> String {
    let head = String(decoding: text.prefix(40), as: UTF8.self)
    return text.count > 40 ? "\(head)…" : head
  }
}
