/// Reads packed arguments from front to back, and refuses anything that ``TypedArguments`` would not write.
struct PackedReader {
  private let bytes: [UInt8]
  private var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  mutating func byte() throws(TypedPackingError) -> UInt8 {
    guard position < bytes.count else { throw failure("they end too early") }
    position += 1
    return bytes[position - 1]
  }

  func end() throws(TypedPackingError) {
    guard position == bytes.count else { throw failure("there are more bytes than the signature has arguments") }
  }

  mutating func value(of parameter: TypedParameter) throws(TypedPackingError) -> TypedValue {
    guard try byte() == parameter.type.packingCode else {
      position -= 1
      throw failure("argument \(parameter.name) is of another type: they were made for another signature")
    }
    if parameter.isOptional, try !truth() { return .absent }
    switch parameter.type {
    case .i8, .i16, .i32, .i64, .u8, .u16, .u32, .u64: return .integer(bits: try integer(parameter.type))
    case .f32:
      let number = Float(bitPattern: UInt32(truncatingIfNeeded: try bits(width: 4)))
      guard number.isFinite else { throw failure("argument \(parameter.name) is not finite") }
      return .float(number)
    case .f64:
      let number = Double(bitPattern: try bits(width: 8))
      guard number.isFinite else { throw failure("argument \(parameter.name) is not finite") }
      return .double(number)
    case .bool: return .bool(try truth())
    case .str:
      let text = try counted()
      guard !text.contains(0), String(validating: text, as: UTF8.self) != nil else {
        throw failure("argument \(parameter.name) is not UTF-8 text without NUL")
      }
      return .text(text)
    case .bytes: return .bytes(try counted())
    case .task: throw failure("task is not packed")
    }
  }

  private func failure(_ flaw: String) -> TypedPackingError { TypedPackingError(flaw: flaw, offset: position) }

  private mutating func truth() throws(TypedPackingError) -> Bool {
    switch try byte() {
    case 0: return false
    case 1: return true
    default:
      position -= 1
      throw failure("a boolean is neither 0 nor 1")
    }
  }

  private mutating func bits(width: Int) throws(TypedPackingError) -> UInt64 {
    var bits: UInt64 = 0
    for index in 0..<width { bits |= UInt64(try byte()) << UInt64(8 * index) }
    return bits
  }

  private mutating func integer(_ type: TypedArgumentType) throws(TypedPackingError) -> UInt64 {
    guard let range = type.integerRange else { throw failure("\(type.rawValue) is not an integer type") }
    let bits = try bits(width: range.width)
    guard range.lowest > 0, range.width < 8, bits >> UInt64(8 * range.width - 1) == 1 else { return bits }
    return bits | (~0 << UInt64(8 * range.width))
  }

  private mutating func counted() throws(TypedPackingError) -> [UInt8] {
    let count = Int(try bits(width: 4))
    guard count <= bytes.count - position else { throw failure("they end inside an argument") }
    defer { position += count }
    return Array(bytes[position..<(position + count)])
  }
}

/// Why bytes are not packed arguments of a signature.
public struct TypedPackingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong with the bytes.
  public let flaw: String
  /// The byte offset of the flaw, from 0.
  public let offset: Int

  /// What is wrong, and at which byte.
  public var description: String { "the packed arguments are damaged at byte \(offset): \(flaw)" }
}
