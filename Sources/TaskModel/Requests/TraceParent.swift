/// A place in a distributed trace: the `traceparent` of W3C Trace Context.
///
/// - Source: W3C Trace Context, level 1, 3.2.
public struct TraceParent: Sendable, Hashable, CustomStringConvertible {
  /// The upper half of the trace's id.
  public let traceHigh: UInt64
  /// The lower half of the trace's id. Not both halves are 0.
  public let traceLow: UInt64
  /// The id of the span; not 0.
  public let span: UInt64
  /// Whether the caller may have recorded the trace.
  public let isSampled: Bool

  /// The length of the text in bytes.
  public static let textBytes = 55

  /// Creates a place. Zeroes, which stand for no trace and no span, become 1.
  init(traceHigh: UInt64, traceLow: UInt64, span: UInt64, isSampled: Bool) {
    self.traceHigh = traceHigh
    self.traceLow = traceHigh == 0 && traceLow == 0 ? 1 : traceLow
    self.span = span == 0 ? 1 : span
    self.isSampled = isSampled
  }

  /// Reads a `traceparent`; nil for what is none. Of a later version than 00, the fields of 00 are read, and no flag but `sampled` is kept.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard bytes.count >= Self.textBytes, [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
      let version = Self.number(bytes[0..<2]), version != 0xFF,
      version == 0 ? bytes.count == Self.textBytes : bytes.count == Self.textBytes || bytes[Self.textBytes] == UInt8(ascii: "-"),
      bytes.count <= 4 * Self.textBytes,
      let high = Self.number(bytes[3..<19]), let low = Self.number(bytes[19..<35]), high != 0 || low != 0,
      let span = Self.number(bytes[36..<52]), span != 0, let flags = Self.number(bytes[53..<55])
    else { return nil }
    self.init(traceHigh: high, traceLow: low, span: span, isSampled: flags & 1 == 1)
  }

  /// Reads a `traceparent`. Throws a refusal of the field of a request for what is none.
  public init(field text: String) throws(RequestRefusal) {
    guard let parent = TraceParent(text) else {
      throw RequestField.traceparent.refusal(
        "\"\(text.prefix(80).description.escapingControlCharacters)\" is not a traceparent: version, trace id, parent id and flags in lower-case"
          + " hexadecimal digits, such as 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    }
    self = parent
  }

  /// The number in lower-case hexadecimal digits, at most 16; nil for anything else.
  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): number = number << 4 | UInt64(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): number = number << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
      default: return nil
      }
    }
    return number
  }

  /// The `traceparent`, of version 00.
  public var description: String {
    var text = "00-"
    Self.append(traceHigh, to: &text)
    Self.append(traceLow, to: &text)
    text += "-"
    Self.append(span, to: &text)
    return text + (isSampled ? "-01" : "-00")
  }

  private static func append(_ number: UInt64, to text: inout String) {
    let digits = String(number, radix: 16)
    text += String(repeating: "0", count: 16 - digits.utf8.count) + digits
  }
}
