import Glibc
import TaskModel

/// A copy of bytes for a plugin, with a 0 byte behind it, so that text can be read as a C string. The memory lives as long as this object.
final class LentBytes: @unchecked Sendable {  // reason: written in init, only read afterwards, freed in deinit
  let start: UnsafeRawPointer

  init(_ bytes: [UInt8]) throws(CallFailure) {
    guard let copy = malloc(bytes.count + 1) else { throw CallFailure(.internal, "out of memory") }
    bytes.withUnsafeBytes { if let base = $0.baseAddress { copy.copyMemory(from: base, byteCount: $0.count) } }
    copy.storeBytes(of: 0, toByteOffset: bytes.count, as: UInt8.self)
    start = UnsafeRawPointer(copy)
  }

  deinit { free(UnsafeMutableRawPointer(mutating: start)) }

  var text: UnsafePointer<CChar> { start.assumingMemoryBound(to: CChar.self) }
}
