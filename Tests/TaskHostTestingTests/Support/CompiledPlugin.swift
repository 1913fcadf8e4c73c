import TestSupport
import Foundation
import Synchronization

/// The C plugins under `Tests/Fixtures`, each compiled once per process for each set of definitions.
enum CompiledPlugin {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private static let compiled = Mutex<[String: Result<String, Failure>]>([:])
  private static let folder = FileManager.default.temporaryDirectory.appending(path: "taskhost-testing-\(UUID().uuidString)")

  /// The path of a plugin made from `Fixtures/NAME.c`.
  ///
  /// - Parameter definitions: As the compiler's `-D` takes them.
  static func path(_ name: String, _ definitions: [String] = []) throws -> String {
    try compiled.withLock { compiled in
      let key = ([name] + definitions).joined(separator: " ")
      let result = compiled[key] ?? Result { () throws(Failure) in try compile(name, definitions, number: compiled.count) }
      compiled[key] = result
      return try result.get()
    }
  }

  private static func compile(_ name: String, _ definitions: [String], number: Int) throws(Failure) -> String {
    let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let source = tests.appending(path: "Fixtures/\(name).c").path
    let headers = tests.deletingLastPathComponent().appending(path: "SDK/CTaskHost/include").path
    let output = folder.appending(path: "lib\(number).so").path
    let command =
      ["cc", "-O1", "-g", "-pthread", "-shared", "-fPIC", "-I", headers, "-o", output] + definitions.map { "-D\($0)" } + [source]
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      removeAtExit()
      let compiled = try Program.finish(command)
      guard compiled.status == 0 else { throw TestFailure(compiled.errors) }
    } catch { throw Failure(description: "cc \(source): \(error)") }
    return output
  }

  private static func removeAtExit() {
    _ = removal
  }

  private static let removal: Void = {
    atexit { try? FileManager.default.removeItem(at: CompiledPlugin.folder) }
  }()
}
