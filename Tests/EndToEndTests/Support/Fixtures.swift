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
    let source = root.appending(path: "Fixtures/Plugins/\(variant.source).c").path
    let include = root.deletingLastPathComponent().appending(path: "SDK/CTaskHost/include").path
    // A program or an object file, for the tests that are about them.
    let isShared = !variant.arguments.contains { ["-c", "-pie", "-no-pie"].contains($0) }
    let result = try await Program.run(
      "/usr/bin/env",
      ["cc", "-std=gnu11", "-Wall", "-fPIC", "-pthread", "-I", include, source, "-o", output.path] + (isShared ? ["-shared"] : [])
        + variant.arguments)
    guard result.status == 0 else { throw TestFailure("cc \(variant.arguments): \(result.errors)") }
    return try Data(contentsOf: output)
  }
}
