import StrictText

/// Reads the JSON of a payload token by token. Errors describe the payload.
///
/// Values keep their written precision. An array or object inside a payload is refused at its beginning, so nothing is nested.
struct PayloadScanner {
  private var scanner: JSONScanner

  init(_ bytes: [UInt8]) { scanner = JSONScanner(bytes) }

  var next: UInt8? { scanner.next }

  mutating func skipBlanks() { scanner.skipBlanks() }

  mutating func take(_ character: Unicode.Scalar) -> Bool { scanner.take(character) }

  /// A value; stops at the beginning of an array or object.
  mutating func value() throws(TypedPayloadError) -> PayloadValue {
    do throws(JSONSyntaxError) {
      switch scanner.next {
      case UInt8(ascii: "{"): return .object
      case UInt8(ascii: "["): return .array
      case UInt8(ascii: "\""): return .string(Array(try scanner.string()))
      case UInt8(ascii: "t"):
        try scanner.word("true")
        return .bool(true)
      case UInt8(ascii: "f"):
        try scanner.word("false")
        return .bool(false)
      case UInt8(ascii: "n"):
        try scanner.word("null")
        return .null
      case UInt8(ascii: "-"), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): return .number(try scanner.number())
      default: throw scanner.noValue()
      }
    } catch { throw Self.notJSON(error) }
  }

  mutating func string() throws(TypedPayloadError) -> [UInt8] {
    do throws(JSONSyntaxError) { return Array(try scanner.string()) } catch { throw Self.notJSON(error) }
  }

  func failure(_ flaw: String) -> TypedPayloadError { Self.notJSON(scanner.failure(flaw)) }

  private static func notJSON(_ error: JSONSyntaxError) -> TypedPayloadError {
    TypedPayloadError(argument: nil, flaw: "the payload is not JSON: \(error)")
  }
}

/// A payload that does not fit a signature.
public struct TypedPayloadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The argument, or the unknown name; nil for the payload as a whole.
  public let argument: String?
  /// What was seen, and what to do.
  public let flaw: String

  /// "argument horizon_s: 9223372036854775808 does not fit i64 (…)", or the flaw of the whole.
  public var description: String { argument.map { "argument \($0): \(flaw)" } ?? flaw }
}

/// A member's value in the payload, before it is converted to its argument's type.
enum PayloadValue {
  case null
  case bool(Bool)
  /// The number's text, which is JSON's form of one.
  case number(ArraySlice<UInt8>)
  /// UTF-8, escapes resolved.
  case string([UInt8])
  /// Its content is not read, because no argument accepts an array.
  case array
  /// As `array`.
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
