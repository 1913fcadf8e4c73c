import TestSupport
import Foundation

/// A plugin of Tests/Fixtures/Plugins/Check, compiled into a folder of its own, which is removed with it.
final class CheckFixture {
  /// A fixture that does not compile.
  struct CompilerError: Error {
    let output: String
  }

  static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private let folder: URL

  /// The compiled plugin.
  let file: String

  /// - Parameters:
  ///   - name: The source's, without `.c`.
  ///   - definitions: For the preprocessor.
  init(_ name: String, _ definitions: [String] = []) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "taskhost-check-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    file = folder.appending(path: "lib\(name).so").path
    let fixtures = Self.root.appending(path: "Tests/Fixtures/Plugins/Check")
    let result = try await CheckProcess.run(
      "/usr/bin/env",
      ["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-fPIC", "-shared", "-fno-stack-protector"]
        + definitions.map { "-D\($0)" }
        + [
          "-I", Self.root.appending(path: "SDK/CTaskHost/include").path, "-I", fixtures.path, fixtures.appending(path: name + ".c").path,
          "-lpthread", "-o", file,
        ])
    guard result.status == 0 else { throw CompilerError(output: result.errors) }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
  }

  /// Writes a file beside the plugin.
  func write(_ text: String, to name: String) throws -> String {
    let place = folder.appending(path: name)
    try Data(text.utf8).write(to: place)
    return place.path
  }

  /// `taskhost plugins check` of it, with `arguments`.
  func check(_ arguments: [String] = []) async throws -> Program.Result { try await CheckProcess.check([file] + arguments) }

  deinit { try? FileManager.default.removeItem(at: folder) }
}
