import TestSupport
import Foundation
import PluginTrust
import Testing

/// The note that the macros of taskhost.h write, as the host reads it.
@Suite("Note macro of taskhost.h", .timeLimit(.minutes(10)))
struct NoteTests {
  struct Compiler: Sendable, CustomTestStringConvertible {
    let command: [String]
    let suffix: String
    var testDescription: String { command.joined(separator: " ") }
  }

  static let compilers = [
    Compiler(command: ["gcc", "-std=c11"], suffix: "c"), Compiler(command: ["gcc", "-std=c11", "-flto"], suffix: "c"),
    Compiler(command: ["clang", "-std=c11"], suffix: "c"), Compiler(command: ["clang", "-std=c11", "-fuse-ld=lld"], suffix: "c"),
    Compiler(command: ["g++", "-std=c++17"], suffix: "cc"), Compiler(command: ["clang++", "-std=c++17"], suffix: "cc"),
  ]

  @Test("it survives optimisation, hidden symbols, the collection of sections and strip", arguments: compilers)
  func survives(_ compiler: Compiler) async throws {
    let note = try await Self.note(
      of: "TASKHOST_PLUGIN_NOTE(\"org.example.hello\", \"processing\", 90000, \"1.2.3\");", compiler)
    #expect(note.identifier == "org.example.hello")
    #expect(note.kind == .processing)
    #expect(note.budgetMilliseconds == 90_000)
    #expect(note.version == "1.2.3")
    #expect(note.swift == nil)
  }

  @Test("the one for Swift says which Swift; the plain one only what it is given; a number may be a macro")
  func variants() async throws {
    let swift = try await Self.note(of: "TASKHOST_PLUGIN_NOTE_SWIFT(\"a.b\", \"refresh\", 0, \"1\", \"6.3\");", Self.compilers[0])
    #expect(swift.swift == "6.3")
    let lines = try await Self.note(of: "TASKHOST_PLUGIN_NOTE_LINES(\"identifier=a.b\\n\");", Self.compilers[0])
    #expect(lines.identifier == "a.b")
    #expect(lines.kind == nil)
    let macro = try await Self.note(
      of: "#define BUDGET 1500\nTASKHOST_PLUGIN_NOTE(\"a.b\", \"refresh\", BUDGET, \"1\");", Self.compilers[2])
    #expect(macro.budgetMilliseconds == 1500)
  }

  @Test("Swift can write one by itself: integers in the section")
  func swift() async throws {
    let text = Array("format=1\nabi=1\nidentifier=org.example.swift\nswift=6.3\n\0".utf8)
    let padded = text + [UInt8](repeating: 0, count: (4 - text.count % 4) % 4)
    let source = """
      @section(".note.taskhost") @used
      let note: (UInt32, UInt32, UInt32, InlineArray<12, UInt8>, InlineArray<\(padded.count), UInt8>) =
        (9, \(text.count), 0x5448_0001, [0x74, 0x61, 0x73, 0x6B, 0x68, 0x6F, 0x73, 0x74, 0, 0, 0, 0], \(padded))
      @c(taskhost_plugin_launch) public func launch(_ api: UnsafeRawPointer?, _ launch: UInt64) -> Int32 { 0 }
      """
    let version = "const unsigned taskhost_plugin_abi_version = 1;"
    let note = try await Self.inspect { folder in
      try Data(version.utf8).write(to: folder.appending(path: "version.c"))
      try Data(source.utf8).write(to: folder.appending(path: "Note.swift"))
      let place = folder.path
      return [
        ["gcc", "-c", "-fPIC", "-o", "\(place)/version.o", "\(place)/version.c"],
        [
          "swiftc", "-O", "-parse-as-library", "-module-name", "Note", "-emit-library", "-static-stdlib", "-o", "\(place)/libNote.so",
          "\(place)/Note.swift", "\(place)/version.o",
        ], ["strip", "\(place)/libNote.so"],
      ]
    }
    #expect(note.identifier == "org.example.swift")
    #expect(note.swift == "6.3")
  }

  private static func note(of macro: String, _ compiler: Compiler) async throws -> PluginNote {
    let isC = compiler.suffix == "c"
    let source = """
      #include "taskhost.h"
      \(macro)
      \(isC ? "TASKHOST_EXPORT " : "")const uint32_t taskhost_plugin_abi_version = TASKHOST_ABI_VERSION;
      taskhost_status taskhost_plugin_launch(const taskhost_api *api, taskhost_launch launch) {
        (void)api;
        (void)launch;
        return TASKHOST_OK;
      }
      """
    return try await inspect { folder in
      let place = folder.path
      try Data((source + "\n").utf8).write(to: folder.appending(path: "note.\(compiler.suffix)"))
      return [
        compiler.command + [
          "-shared", "-fPIC", "-O2", "-ffunction-sections", "-fdata-sections", "-fvisibility=hidden", "-Wall", "-Wextra", "-Wpedantic",
          "-Wpadded", "-Werror", "-Wl,--gc-sections", "-I", CheckFixture.root.appending(path: "SDK/CTaskHost/include").path,
          "\(place)/note.\(compiler.suffix)", "-o", "\(place)/libNote.so",
        ], ["strip", "\(place)/libNote.so"],
      ]
    }
  }

  /// Compiles in a folder of its own and reads the note of the `libNote.so` that comes of it.
  private static func inspect(_ commands: (URL) throws -> [[String]]) async throws -> PluginNote {
    let folder = FileManager.default.temporaryDirectory.appending(path: "taskhost-note-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    defer { try? FileManager.default.removeItem(at: folder) }
    for command in try commands(folder) {
      let result = try await CheckProcess.run("/usr/bin/env", command)
      guard result.status == 0 else { throw CheckFixture.CompilerError(output: result.errors) }
    }
    let file = folder.appending(path: "libNote.so").path
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
    return try #require(try PluginFile(inspecting: file).elf.note)
  }
}
