import CTaskHostSystem
import Glibc

@testable import PluginTrust

private let file = taskhost_system_memfd("plugin")

/// Feeds bytes to the readers of plugin files, of their notes, and of key and signature files.
///
/// What is read of a key or signature must be written as the same bytes: there is one way to write each.
///
/// - Parameters:
///   - data: `size` bytes, borrowed for the call; NULL for none.
///   - size: How many.
@c(LLVMFuzzerTestOneInput) public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> Int32 {
  let bytes = Array(UnsafeBufferPointer(start: data, count: data == nil ? 0 : size))
  readPlugin(bytes)
  if let note = try? PluginNote(descriptor: bytes) { precondition(!note.identifier.isEmpty) }
  if let key = try? PluginPublicKey(parsing: bytes) { precondition(Array(key.text.utf8) == bytes, "a public key is written otherwise") }
  if let key = try? PluginSigningKey(parsing: bytes) { precondition(Array(key.text.utf8) == bytes, "a private key is written otherwise") }
  if let signature = try? PluginSignature(parsing: bytes) {
    precondition(Array(signature.text.utf8) == bytes, "a signature is written otherwise")
  }
  return 0
}

private func readPlugin(_ bytes: [UInt8]) {
  guard ftruncate(file, 0) == 0, pwrite(file, bytes, bytes.count, 0) == bytes.count else { preconditionFailure("no memory for the file") }
  do throws(Rejection) {
    let summary = try ElfSummary(reading: BoundedFile(descriptor: file, size: UInt64(bytes.count)), policy: PluginTrustPolicy(user: 0))
    precondition(summary.abiVersion == 1 && summary.handlerLimit > 0, "a plugin was taken that must not be")
  } catch {
    precondition(!error.observed.isEmpty && error.remedy.hasSuffix("."), "a refusal without a sentence")
  }
}
