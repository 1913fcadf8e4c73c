import Foundation
import HostThreads

/// The C plugins under `Tests/Fixtures/Plugins`, each compiled once per process for each set of definitions.
enum FixturePlugins {
  private static let monitor = Monitor()
  // reason: touched with `monitor` held
  nonisolated(unsafe) private static var compiled: [String: Result<String, any Error>] = [:]

  /// A folder that is removed when the process ends.
  private static let folder: String = {
    let path = NSTemporaryDirectory() + "taskhost-runtime-\(UUID().uuidString)"
    try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    atexit { try? FileManager.default.removeItem(atPath: FixturePlugins.folder) }
    return path
  }()

  /// The path of `name`.so, made from `name`.c.
  ///
  /// - Parameter definitions: As the compiler's `-D` takes them.
  static func path(_ name: String, _ definitions: [String] = []) async throws -> String {
    try await onThread {
      try monitor.locked {
        let key = ([name] + definitions).joined(separator: " ")
        let result = compiled[key] ?? Result { try compile(name, definitions, number: compiled.count) }
        compiled[key] = result
        return try result.get()
      }
    }
  }

  private static func compile(_ name: String, _ definitions: [String], number: Int) throws -> String {
    let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let source = tests.appendingPathComponent("Fixtures/Plugins/\(name).c").path
    let headers = tests.deletingLastPathComponent().appendingPathComponent("SDK/CTaskHost/include").path
    let output = "\(folder)/\(name)-\(number).so"
    let compiler = Process()
    let errors = Pipe()
    compiler.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    compiler.arguments =
      ["cc", "-shared", "-fPIC", "-O1", "-g", "-pthread", "-I", headers, "-o", output] + definitions.map { "-D\($0)" } + [source]
    compiler.standardError = errors
    try compiler.run()
    let message = errors.fileHandleForReading.readDataToEndOfFile()
    compiler.waitUntilExit()
    guard compiler.terminationStatus == 0 else { throw TestFailure("cc \(name).c: \(String(decoding: message, as: UTF8.self))") }
    return output
  }
}
