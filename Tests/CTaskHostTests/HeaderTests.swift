import TestSupport
import Foundation
import Testing

/// The header as authors compile it, and the plugin in the README.
@Suite("taskhost.h") struct HeaderTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
  private static let strict = ["-Wall", "-Wextra", "-Wpedantic", "-Wpadded", "-Werror"]

  @Test(
    "a file that includes only it compiles without a warning",
    arguments: [
      ["gcc", "-x", "c", "-std=c11"], ["clang", "-x", "c", "-std=c11"], ["g++", "-x", "c++", "-std=c++17"],
      ["clang++", "-x", "c++", "-std=c++17"],
    ])
  func compiles(_ compiler: [String]) throws {
    try Self.compile("#include \"taskhost.h\"\n", with: compiler + Self.strict + ["-c", "-o", "/dev/null"])
  }

  @Test("a file with a wrong layout does not compile, so the assertions are looked at")
  func assertions() throws {
    let source = "#include \"taskhost.h\"\nTASKHOST_STATIC_ASSERT(sizeof(taskhost_request) == 57, \"wrong\");\n"
    #expect(throws: CompilerError.self) { try Self.compile(source, with: ["gcc", "-x", "c", "-std=c11", "-c", "-o", "/dev/null"]) }
  }

  @Test("the plugin in the README compiles and links")
  func readme() throws {
    let text = try String(contentsOf: Self.root.appending(path: "README.md"), encoding: .utf8)
    let example = try #require(text.components(separatedBy: "```c\n").dropFirst().first?.components(separatedBy: "```").first)
    try Self.compile(
      example, with: ["gcc", "-x", "c", "-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-shared", "-fPIC", "-o", "/dev/null"])
  }

  private struct CompilerError: Error {
    let output: String
  }

  private static func compile(_ source: String, with command: [String]) throws {
    let command = command + ["-I", root.appending(path: "SDK/CTaskHost/include").path(), "-"]
    let compiled = try Program.finish(command, input: Data(source.utf8))
    guard compiled.status == 0 else { throw CompilerError(output: compiled.output + compiled.errors) }
  }
}
