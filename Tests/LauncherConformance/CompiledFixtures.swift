import TestSupport
import Foundation
import HostThreads

/// The C programs under `Tests/Fixtures`, each compiled once per process for each set of definitions.
public enum CompiledFixtures {
  private static let monitor = Monitor()
  // reason: touched with `monitor` held
  nonisolated(unsafe) private static var compiled: [String: Result<String, any Error>] = [:]

  /// The path of a plugin, made from `Plugins/NAME.c`.
  ///
  /// - Parameter definitions: As the compiler's `-D` takes them.
  public static func plugin(_ name: String, _ definitions: [String] = []) async throws -> String {
    try await made("Plugins/\(name).c", ["-shared", "-fPIC"] + definitions.map { "-D\($0)" }, suffix: ".so")
  }

  /// The path of a program, made from `Workers/NAME.c`.
  public static func program(_ name: String) async throws -> String { try await made("Workers/\(name).c", [], suffix: "") }

  private static func made(_ source: String, _ options: [String], suffix: String) async throws -> String {
    try await onThread {
      try monitor.locked {
        let key = ([source] + options).joined(separator: " ")
        let result = compiled[key] ?? Result { try compile(source, options, "\(compiled.count)\(suffix)") }
        compiled[key] = result
        return try result.get()
      }
    }
  }

  private static func compile(_ source: String, _ options: [String], _ name: String) throws -> String {
    let tests = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent().deletingLastPathComponent()
    let path = tests.appendingPathComponent("Fixtures/\(source)").path
    let headers = tests.deletingLastPathComponent().appendingPathComponent("SDK/CTaskHost/include").path
    let stem = path.split(separator: "/").last?.split(separator: ".").first ?? "fixture"
    let output = "\(TestFolder.programs)/\(stem)-\(name)"
    let compiled = try Program.finish(["cc", "-O1", "-g", "-pthread", "-I", headers, "-o", output] + options + [path])
    guard compiled.status == 0 else { throw TestFailure("cc \(source): \(compiled.errors)") }
    return output
  }
}
