/// The memory of one call: the arguments as C values, the texts and bytes they point to, and room for the result.
///
/// It belongs to one call on one thread and is freed after the call, so a function must not keep pointers into it.
struct NativeArguments: ~Copyable {
  private static let slotBytes = 8
  /// Twice the size of the largest result.
  private static let resultBytes = 16

  /// One allocation: result, values, addresses of the values, texts and bytes.
  private let memory: UnsafeMutableRawPointer
  private let values: UnsafeMutableRawPointer
  /// The address of each value, for libffi.
  let addresses: UnsafeMutablePointer<UnsafeMutableRawPointer?>
  /// The place where libffi stores the return value; zero before the call.
  var result: UnsafeMutableRawPointer { memory }

  /// - Parameter task: The run's handle, for `task`.
  init(_ arguments: TypedArguments, of signature: TypedSignature, task: UInt64) {
    let count = signature.parameters.reduce(0) { $0 + $1.type.nativeCount }
    let fixed = Self.resultBytes + 2 * count * Self.slotBytes
    let texts = arguments.values.reduce(0) { $0 + $1.storedBytes }
    memory = .allocate(byteCount: fixed + texts, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: fixed + texts)
    values = memory + Self.resultBytes
    addresses = (values + count * Self.slotBytes).bindMemory(to: UnsafeMutableRawPointer?.self, capacity: count)
    for index in 0..<count { addresses[index] = values + index * Self.slotBytes }
    var slot = values
    var text = memory + fixed
    var rest = arguments.values[...]
    for parameter in signature.parameters {
      let value = parameter.type == .task ? .integer(bits: task) : rest.popFirst() ?? .absent
      Self.store(value, of: parameter.type, at: slot, text: &text)
      slot += parameter.type.nativeCount * Self.slotBytes
    }
  }

  deinit { memory.deallocate() }

  /// Writes a value into its slots: two for `bytes`, otherwise one. The slots of an omitted argument stay zero.
  private static func store(
    _ value: TypedValue, of type: TypedArgumentType, at slot: UnsafeMutableRawPointer, text: inout UnsafeMutableRawPointer
  ) {
    switch value {
    case .absent: break
    case .integer(let bits):
      switch type.integerRange?.width ?? slotBytes {
      case 1: slot.storeBytes(of: UInt8(truncatingIfNeeded: bits), as: UInt8.self)
      case 2: slot.storeBytes(of: UInt16(truncatingIfNeeded: bits), as: UInt16.self)
      case 4: slot.storeBytes(of: UInt32(truncatingIfNeeded: bits), as: UInt32.self)
      default: slot.storeBytes(of: bits, as: UInt64.self)
      }
    case .float(let number): slot.storeBytes(of: number, as: Float.self)
    case .double(let number): slot.storeBytes(of: number, as: Double.self)
    case .bool(let truth): slot.storeBytes(of: truth ? 1 : 0, as: UInt8.self)
    case .text(let bytes), .bytes(let bytes):
      slot.storeBytes(of: text, as: UnsafeMutableRawPointer.self)
      if type == .bytes { slot.storeBytes(of: bytes.count, toByteOffset: slotBytes, as: Int.self) }
      bytes.withUnsafeBytes { if let base = $0.baseAddress { text.copyMemory(from: base, byteCount: bytes.count) } }
      text += value.storedBytes
    }
  }
}

extension TypedValue {
  /// The number of bytes that the value needs outside its slots, including a final 0 byte and padding for alignment.
  fileprivate var storedBytes: Int {
    switch self {
    case .text(let bytes), .bytes(let bytes): (bytes.count + 1 + 15) & ~15
    default: 0
    }
  }
}
