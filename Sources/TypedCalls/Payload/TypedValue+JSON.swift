import StrictText

extension TypedValue {
  init(_ value: PayloadValue, for parameter: TypedParameter) throws(TypedPayloadError) {
    switch (value, parameter.type) {
    case (.null, _) where parameter.isOptional: self = .absent
    case (.bool(let truth), .bool): self = .bool(truth)
    case (.string(let text), .str):
      guard !text.contains(0) else {
        throw TypedPayloadError(
          argument: parameter.name, flaw: "the text has a NUL character, where a C string would end: remove it, or use bytes")
      }
      self = .text(text)
    case (.string(let text), .bytes):
      guard let bytes = Base64.decode(text) else {
        throw TypedPayloadError(
          argument: parameter.name, flaw: "the string is not base64: use the alphabet A-Z a-z 0-9 + / with = padding and no blanks")
      }
      self = .bytes(bytes)
    case (.number(let text), .f32):
      self = .float(try Self.floating(text, for: parameter))
    case (.number(let text), .f64):
      self = .double(try Self.floating(text, for: parameter))
    case (.number(let text), let type):
      guard let range = type.integerRange else { throw Self.mismatch(value, parameter) }
      self = .integer(bits: try Self.integer(text, range: range, for: parameter))
    default: throw Self.mismatch(value, parameter)
    }
  }

  private static func mismatch(_ value: PayloadValue, _ parameter: TypedParameter) -> TypedPayloadError {
    let remedy = if case .null = value { "it is required" } else { "give \(parameter.type.wanted)" }
    return TypedPayloadError(argument: parameter.name, flaw: "\(value.kind) is not of type \(parameter.type.rawValue): \(remedy)")
  }

  /// - Returns: 64 bits, sign-extended.
  private static func integer(
    _ text: ArraySlice<UInt8>, range: IntegerRange, for parameter: TypedParameter
  ) throws(TypedPayloadError) -> UInt64 {
    let isNegative = text.first == UInt8(ascii: "-")
    var magnitude: UInt64 = 0
    var fits = true
    for byte in text.dropFirst(isNegative ? 1 : 0) {
      guard (0x30...0x39).contains(byte) else {
        throw TypedPayloadError(
          argument: parameter.name,
          flaw: "\(PayloadValue.shown(text)) is not of type \(parameter.type.rawValue): write a whole number without fraction or exponent"
        )
      }
      let (tens, overflow) = magnitude.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(UInt64(byte - 0x30))
      magnitude = sum
      if overflow || carry { fits = false }
    }
    guard fits, let bits = range.bits(isNegative: isNegative, magnitude: magnitude) else {
      throw TypedPayloadError(
        argument: parameter.name, flaw: "\(PayloadValue.shown(text)) does not fit \(parameter.type.rawValue) (\(range))")
    }
    return bits
  }

  /// - Source: Swift reads the decimal text with correct rounding in any locale. JSON's grammar excludes the other forms that Swift reads.
  private static func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: ArraySlice<UInt8>, for parameter: TypedParameter
  ) throws(TypedPayloadError) -> Number {
    guard let number = Number(String(decoding: text, as: UTF8.self)), number.isFinite else {
      throw TypedPayloadError(
        argument: parameter.name,
        flaw: "\(PayloadValue.shown(text)) does not fit \(parameter.type.rawValue) (at most \(Number.greatestFiniteMagnitude) in magnitude)"
      )
    }
    return number
  }
}
