import CLibFFI
import Glibc
public import TaskModel

/// The address of a C function of any type.
public typealias TypedFunction = @convention(c) () -> Void

/// A C function that can be called with arguments of a signature.
///
/// Prepare it once for each handler. Any number of threads may call it at once if the function allows that.
public final class TypedCall: @unchecked Sendable {  // reason: what it points to is written in init, read afterwards, freed in deinit
  /// The parameters and result of the function.
  public let signature: TypedSignature
  /// Which return values mean success.
  public let success: SuccessRule
  private let function: TypedFunction
  private let types: UnsafeMutablePointer<UnsafeMutablePointer<ffi_type>?>
  private let interface: UnsafeMutablePointer<ffi_cif>

  /// Prepares calls of `function`, which must stay loaded while this object exists.
  ///
  /// - Parameter success: nil means the result type's default: `zero` for integers, `nonzero` for bool, `any` for the others.
  public init(signature: TypedSignature, function: @escaping TypedFunction, success: SuccessRule? = nil) throws(TypedCallError) {
    do { self.success = try signature.successRule(success) } catch { throw .success(error) }
    self.signature = signature
    self.function = function
    let native = signature.parameters.flatMap(\.type.nativeTypes)
    types = .allocate(capacity: max(1, native.count))
    types.initialize(repeating: nil, count: max(1, native.count))
    for (index, type) in native.enumerated() { types[index] = type }
    interface = .allocate(capacity: 1)
    interface.initialize(to: ffi_cif())
    let status = ffi_prep_cif(interface, FFI_DEFAULT_ABI, UInt32(native.count), signature.result.nativeType, types)
    guard status == FFI_OK else { throw .unsupported(status: Int(status.rawValue)) }
  }

  deinit {
    interface.deallocate()
    types.deallocate()
  }

  /// Calls the function on the calling thread and waits for its return.
  ///
  /// - Parameters:
  ///   - arguments: Arguments that were read for this signature.
  ///   - task: The run's handle, for a `task` argument.
  ///   - outputLimit: The maximum size of the output in bytes, at least 2.
  public func callAsFunction(_ arguments: TypedArguments, task: UInt64, outputLimit: Int) -> TypedReturn {
    let native = NativeArguments(arguments, of: signature, task: task)
    ffi_call(interface, function, native.result, native.addresses)
    return read(native.result, outputLimit: outputLimit)
  }

  // MARK: The result

  /// libffi widens integers that are narrower than a register (`ffi_arg`, `ffi_sarg`) and leaves all other values as they are.
  private func read(_ memory: UnsafeMutableRawPointer, outputLimit: Int) -> TypedReturn {
    let word = memory.load(as: UInt64.self)
    switch signature.result {
    case .i8: return judged(Int8(truncatingIfNeeded: word))
    case .i16: return judged(Int16(truncatingIfNeeded: word))
    case .i32: return judged(Int32(truncatingIfNeeded: word))
    case .i64: return judged(Int64(truncatingIfNeeded: word))
    case .u8: return judged(UInt8(truncatingIfNeeded: word))
    case .u16: return judged(UInt16(truncatingIfNeeded: word))
    case .u32: return judged(UInt32(truncatingIfNeeded: word))
    case .u64: return judged(word)
    case .f32: return judged(JSONText.number(memory.load(as: Float.self)), isZero: false)
    case .f64: return judged(JSONText.number(memory.load(as: Double.self)), isZero: false)
    case .bool:
      let truth = UInt8(truncatingIfNeeded: word) != 0
      return judged(truth ? "true" : "false", isZero: !truth)
    case .void: return judged("null", isZero: false)
    case .str: return text(at: memory.load(as: UnsafePointer<CChar>?.self), limit: outputLimit)
    case .result:
      let code = Int32(truncatingIfNeeded: word)
      return TypedReturn(verdict: .result(code), output: Array(String(code).utf8), message: nil)
    }
  }

  private func isSuccess(isZero: Bool) -> Bool {
    switch success {
    case .zero: isZero
    case .nonzero: !isZero
    case .any: true
    }
  }

  private func judged(_ integer: some FixedWidthInteger) -> TypedReturn { judged(String(integer), isZero: integer == 0) }

  private func judged(_ json: String, isZero: Bool) -> TypedReturn {
    let isSuccess = isSuccess(isZero: isZero)
    let message = isSuccess ? nil : "the function returned \(json), which is not a success (success = \"\(success.rawValue)\")"
    return TypedReturn(verdict: isSuccess ? .success : .failure, output: Array(json.utf8), message: message)
  }

  /// Copies a returned text, which the library owns, and never frees it. Reads no more bytes than fit the output.
  private func text(at pointer: UnsafePointer<CChar>?, limit: Int) -> TypedReturn {
    guard let pointer else { return judged("null", isZero: true) }
    let length = strnlen(pointer, limit)
    let (output, isCut) = JSONText.string(UnsafeRawBufferPointer(start: pointer, count: length), limit: limit)
    guard isSuccess(isZero: false) else {
      return TypedReturn(
        verdict: .failure, output: output, message: "the function returned a text, which is not a success (success = \"zero\")")
    }
    let message = isCut ? "the returned text was cut to fit the output of \(limit) bytes" : nil
    return TypedReturn(verdict: .success, output: output, message: message)
  }
}

/// Why a function cannot be called: its signature is unsupported on this machine, or the success rule does not apply to it.
public enum TypedCallError: Error, Sendable, Hashable, CustomStringConvertible {
  /// libffi refused the types.
  case unsupported(status: Int)
  /// The success rule does not apply to the result type.
  case success(SuccessRuleError)

  /// What was seen.
  public var description: String {
    switch self {
    case .unsupported(let status): "libffi cannot call a function of this signature here (ffi_prep_cif: \(status))"
    case .success(let error): error.description
    }
  }
}
