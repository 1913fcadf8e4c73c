// The packed form, in which arguments are sent to the calling process: one byte for the version, then for each argument except `task` one
// byte for its type, and the value: integers in as many bytes as the type has, numbers as IEEE 754, bool as 0 or 1, str and bytes as a
// length of 4 bytes and the bytes; an optional value is preceded by a byte, which is 0 if the value is omitted. Everything is little
// endian. Every list of arguments has exactly one packed form.
extension TypedArguments {
  private static let version: UInt8 = 1

  /// The most bytes that packing adds to the payload: a version byte, and for each argument its type, its presence and 8 bytes.
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
  /// - Throws: ``TypedPackingError`` if the bytes are cut, damaged, or belong to another signature.
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
  /// The type's number in the packed form; final.
  var packingCode: UInt8 {
    switch self {
    case .i8: 1
    case .i16: 2
    case .i32: 3
    case .i64: 4
    case .u8: 5
    case .u16: 6
    case .u32: 7
    case .u64: 8
    case .f32: 9
    case .f64: 10
    case .bool: 11
    case .str: 12
    case .bytes: 13
    case .task: 14
    }
  }
}
