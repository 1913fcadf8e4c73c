import TestSupport
import Foundation

/// Compiles the plugins of `Tests/Fixtures/Plugins`, each variant once.
actor Fixtures {
  static let shared = Fixtures()

  /// A variant of a fixture: the source without its extension, and the compiler's arguments.
  struct Variant: Hashable, Sendable {
    let source: String
    let arguments: [String]
  }

  private var compiled: [Variant: Task<Data, any Error>] = [:]

  private static let root = URL(filePath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// The bytes of `source.c` compiled with `arguments`.
  ///
  /// - Parameter cached: False for a variant whose arguments name files that others do not have.
  func bytes(of source: String, _ arguments: [String] = [], isCached: Bool = true) async throws -> Data {
    let variant = Variant(source: source, arguments: arguments)
    if isCached, let known = compiled[variant] { return try await known.value }
    let task = Task { try await Self.compile(variant) }
    if isCached { compiled[variant] = task }
    return try await task.value
  }

  private static func compile(_ variant: Variant) async throws -> Data {
    let output = FileManager.default.temporaryDirectory.appending(path: "taskhost-fixture-\(UUID()).so")
    defer { try? FileManager.default.removeItem(at: output) }
    let folder = root.appending(path: "Fixtures/Plugins")
    let include = root.deletingLastPathComponent().appending(path: "SDK/CTaskHost/include").path
    guard
      let language = Language.allCases.first(where: {
        FileManager.default.fileExists(atPath: folder.appending(path: "\(variant.source).\($0.rawValue)").path)
      })
    else { throw TestFailure("there is no fixture \(variant.source)") }
    let source = folder.appending(path: "\(variant.source).\(language.rawValue)").path
    switch language {
    case .swift:
      // Swift cannot export data: the ABI version is in a file of C beside it.
      let object = FileManager.default.temporaryDirectory.appending(path: "taskhost-fixture-\(UUID()).o")
      defer { try? FileManager.default.removeItem(at: object) }
      let version = folder.appending(path: "\(variant.source).abi.c").path
      let sdk = root.deletingLastPathComponent().appending(path: "SDK/CTaskHostPlugin/include").path
      try await run(
        ["cc", "-fPIC", "-c", "-I", include, "-I", sdk, version, "-o", object.path] + variant.arguments.filter { $0.hasPrefix("-D") })
      try await run(
        [
          "swiftc", "-O", "-swift-version", "6", "-emit-library", "-static-stdlib", "-parse-as-library", "-module-name", "Fixture",
          "-import-objc-header", include + "/taskhost.h", source, object.path, "-o", output.path,
        ] + variant.arguments)
    case .c, .cc:
      // A program or an object file, for the tests that are about them.
      let isShared = !variant.arguments.contains { ["-c", "-pie", "-no-pie"].contains($0) }
      let compiler = language == .c ? ["cc", "-std=gnu11"] : ["c++", "-std=c++17"]
      try await run(
        compiler + ["-Wall", "-fPIC", "-pthread", "-I", include, source, "-o", output.path] + (isShared ? ["-shared"] : [])
          + variant.arguments)
    }
    return try Data(contentsOf: output)
  }

  /// The language of a fixture's source: the extension of its file.
  private enum Language: String, CaseIterable { case swift, cc, c }

  private static func run(_ command: [String]) async throws {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
    let result = try await Program.run("/usr/bin/env", command, environment: ["PATH": path])
    guard result.status == 0 else { throw TestFailure("\(command): \(result.errors)") }
  }
}
