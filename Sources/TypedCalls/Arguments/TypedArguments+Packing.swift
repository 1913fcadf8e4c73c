// The packed form, in which arguments are sent to the process that calls the function. It begins with one byte for the version. For each
// argument except `task`, one byte for its type and the value follow: integers in the type's width, numbers as IEEE 754, bool as 0 or 1,
// str and bytes as a length of 4 bytes and the bytes. A byte before an optional value is 0 if the value is omitted, otherwise 1.
// Everything is little-endian. Every list of arguments has exactly one packed form.
extension TypedArguments {
  private static let version: UInt8 = 1

  /// The maximum number of bytes that packing adds to a payload: the version, and for each argument its type, its presence and 8 bytes.
  public static let packingOverhead = 1 + TypedSignature.maximumArguments * 10

  /// The packed form. Pass the signature that the arguments were read for.
  public func packed(for signature: TypedSignature) -> [UInt8] {
    var bytes = [Self.version]
    for (value, parameter) in zip(values, signature.members) {
      bytes.append(parameter.type.packingCode)
      if parameter.isOptional { bytes.append(value == .absent ? 0 : 1) }
      switch value {
      case .absent: break
      case .integer(let bits): Self.append(bits, width: parameter.type.integerRange?.width ?? 8, to: &bytes)
      case .float(let number): Self.append(UInt64(number.bitPattern), width: 4, to: &bytes)
      case .double(let number): Self.append(number.bitPattern, width: 8, to: &bytes)
      case .bool(let truth): bytes.append(truth ? 1 : 0)
      case .text(let text), .bytes(let text):
        Self.append(UInt64(text.count), width: 4, to: &bytes)
        bytes.append(contentsOf: text)
      }
    }
    return bytes
  }

  /// Reads the packed form.
  ///
  /// - Throws: ``TypedPackingError`` if the bytes are truncated, damaged or packed for another signature.
  public init(packed bytes: [UInt8], for signature: TypedSignature) throws(TypedPackingError) {
    var reader = PackedReader(bytes)
    guard try reader.byte() == Self.version else { throw TypedPackingError(flaw: "its version is unknown", offset: 0) }
    var values: [TypedValue] = []
    for parameter in signature.members { values.append(try reader.value(of: parameter)) }
    try reader.end()
    self.values = values
  }

  private static func append(_ bits: UInt64, width: Int, to bytes: inout [UInt8]) {
    for index in 0..<width { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt64(8 * index))) }
  }
}

extension TypedArgumentType {
  /// The types in the order of their numbers in the packed form, which begin at 1. Never reorder them.
  private static let packingOrder: [Self] = [.i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64, .f32, .f64, .bool, .str, .bytes, .task]

  var packingCode: UInt8 { UInt8(Self.packingOrder.firstIndex(of: self).map { $0 + 1 } ?? 0) }
}
