import TestSupport
import Glibc
import PluginTrust
import Testing

/// A directory of a test's own under `/tmp`, removed with it, and what can be put into it.
final class PluginDirectory: Sendable {
  let path: String

  init() throws {
    var template = Array("/tmp/plugin-trust-XXXXXX".utf8CString)
    let made = template.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
    }
    path = try #require(made)
  }

  deinit { _ = Program.status(["rm", "-rf", path]) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ bytes: [UInt8], to name: String, mode: mode_t = 0o644) throws -> String {
    let descriptor = open(file(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
    try #require(descriptor >= 0)
    defer { close(descriptor) }
    try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    try #require(fchmod(descriptor, mode) == 0)
    return file(name)
  }

  /// Compiles C source into a shared object (or what `flags` say) of that name.
  @discardableResult
  func compile(_ source: String, to name: String, flags: [String] = []) throws -> String {
    let sourcePath = file(name + ".c")
    try write(Array(source.utf8), to: name + ".c")
    let status = Program.status(["cc", "-shared", "-fPIC", "-O1", "-o", file(name), sourcePath] + flags)
    try #require(status == 0, "cc \(flags)")
    try #require(chmod(file(name), 0o755) == 0)
    return file(name)
  }

  func scan(_ policy: PluginTrustPolicy = PluginTrustPolicy()) throws -> PluginDirectoryScan {
    try PluginDirectoryScan(directories: [path], policy: policy)
  }
}

extension PluginDirectoryScan {
  var acceptedNames: [String] { accepted.map(\.name) }
  /// Refused files with their codes.
  var refusals: [String: PluginRefusal.Code] { Dictionary(refused.map { ($0.fileName, $0.code) }) { first, _ in first } }
}
