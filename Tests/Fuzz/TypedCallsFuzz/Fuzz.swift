import StrictText

@testable import TypedCalls

/// A signature with every type, required and optional.
private let everything = try? TypedSignature(
  "str(i8 a, i16 b, i32 c, i64 d, u8 e, u16 f, u32 g, u64 h, f32 i, f64 j, bool k, str l, bytes m, task, i8 n?, f64 o?, str p?, bytes q?)")
/// One whose every argument may be missing, so that almost any beginning of a payload leads on.
private let optional = try? TypedSignature("i32(u64 n?, f32 x?, bool b?, str s?, bytes d?)")

/// Feeds bytes to the readers of typed handlers: signatures, payloads and packed arguments.
///
/// The first line is a signature; what follows is read for it as a payload and as packed arguments, and so is the whole for two fixed ones.
///
/// - Parameters:
///   - data: `size` bytes, borrowed for the call; NULL for none.
///   - size: How many.
@c(LLVMFuzzerTestOneInput) public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : size))
  let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
  if let signature = try? TypedSignature(String(decoding: line, as: UTF8.self)) {
    precondition((try? TypedSignature(signature.description)) == signature, "a signature does not read back")
    precondition(signature.parameters.count <= TypedSignature.maximumArguments)
    check(Array(bytes.dropFirst(line.count + 1)), signature)
  }
  for signature in [everything, optional].compactMap(\.self) { check(bytes, signature) }
  checkText(bytes)
  return 0
}

/// What can be read is packed in one way, and what is packed is read back as the same.
private func check(_ bytes: [UInt8], _ signature: TypedSignature) {
  if let arguments = try? TypedArguments(payload: bytes, of: signature) {
    let packed = arguments.packed(for: signature)
    precondition((try? TypedArguments(packed: packed, for: signature)) == arguments, "packed arguments do not survive")
    precondition(packed.count <= bytes.count + TypedArguments.packingOverhead, "packing takes more than it says")
    checkValues(arguments, signature)
  }
  if let arguments = try? TypedArguments(packed: bytes, for: signature) {
    precondition(arguments.packed(for: signature) == bytes, "arguments are packed otherwise than they were")
    checkValues(arguments, signature)
  }
}

/// No value is one that its type does not hold.
private func checkValues(_ arguments: TypedArguments, _ signature: TypedSignature) {
  precondition(arguments.values.count == signature.members.count)
  for (value, parameter) in zip(arguments.values, signature.members) {
    switch value {
    case .absent: precondition(parameter.isOptional)
    case .integer(let bits): precondition(parameter.type.integerRange?.contains(bits: bits) == true)
    case .float(let number): precondition(parameter.type == .f32 && number.isFinite)
    case .double(let number): precondition(parameter.type == .f64 && number.isFinite)
    case .bool: precondition(parameter.type == .bool)
    case .text(let text): precondition(parameter.type == .str && !text.contains(0) && String(validating: text, as: UTF8.self) != nil)
    case .bytes: precondition(parameter.type == .bytes)
    }
  }
}

/// A returned text becomes a JSON string, however long.
private func checkText(_ bytes: [UInt8]) {
  for limit in [2, 64, 65_536] {
    let (text, _) = JSONText.string(bytes, limit: limit)
    precondition(text.count <= limit, "an output is too long")
    var scanner = JSONScanner(text)
    precondition((try? scanner.string()) != nil && scanner.next == nil, "an output is no JSON")
  }
}

extension IntegerRange {
  /// Whether `bits` are those of a value of the type, sign extended to 64 bits.
  fileprivate func contains(bits: UInt64) -> Bool {
    if lowest > 0, bits >> 63 == 1 { return 0 &- bits <= lowest }
    return bits <= highest
  }
}
