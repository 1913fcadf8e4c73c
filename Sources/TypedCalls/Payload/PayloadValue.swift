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
