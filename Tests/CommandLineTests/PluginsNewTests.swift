import TestSupport
import Foundation
import Testing

@Suite("taskhost plugins new", .timeLimit(.minutes(10)))
struct PluginsNewTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// A folder that is removed with it.
  private final class Place {
    let path: String

    init() throws {
      path = FileManager.default.temporaryDirectory.appending(path: "taskhost-new-\(UUID().uuidString)").path
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func new(_ arguments: String...) async throws -> Program.Result { try await new(arguments) }

    func new(_ arguments: [String]) async throws -> Program.Result {
      try await TaskHostProcess.run(["plugins", "new"] + arguments, directory: path)
    }

    func read(_ name: String) throws -> String { try String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) }

    /// Every file below it, sorted.
    var files: [String] {
      let all = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
      return all.filter { name in
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: "\(path)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
      }.sorted()
    }
  }

  private static func make(_ arguments: [String], in folder: String) throws -> (status: Int32, output: String) {
    let made = try Program.finish(["make"] + arguments, directory: folder, within: .seconds(120))
    return (made.status, made.output + made.errors)
  }

  private static func finds(_ program: String) -> Bool {
    (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
    }
  }

  /// What is written in Swift is timed and checked by Packaging/templates/time.sh: it takes the packages of the SDK to build.
  private static let languages = [("c", "refresh"), ("cpp", "processing")] + (finds("rustc") ? [("rust", "continued")] : [])

  @Test("what it writes builds without a warning, carries its note and passes the check", arguments: languages)
  func passes(_ language: String, _ kind: String) async throws {
    let place = try Place()
    let made = try await place.new("--language", language, "hello-new", "--kind", kind, "--identifier", "org.example.new_1")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output.contains("cd hello-new\n  make\n  make check"))
    let folder = place.path + "/hello-new"
    let built = try Self.make([], in: folder)
    #expect(built.status == 0, "\(built.output)")
    #expect(!built.output.contains("warning:"), "\(built.output)")
    let inspected = try await TaskHostProcess.run(["plugins", "inspect", "hello-new/hello-new.so", "--json"], directory: place.path)
    #expect(inspected.output.contains("\"note\":{\"identifier\":\"org.example.new_1\",\"kind\":\"\(kind)\""), "\(inspected.output)")
    let checked = try Self.make(["check", "TASKHOST=\(try BuiltProgram.taskhost)"], in: folder)
    #expect(checked.status == 0, "\(checked.output)")
    #expect(checked.output.contains("The check has passed"))
  }

  @Test("an odd name, in a folder with a space in its path, builds and is loaded", arguments: languages.map(\.0))
  func oddNames(_ language: String) async throws {
    let place = try Place()
    let made = try await place.new("--language", language, "X_9-Odd--n_", "--directory", "a b's")
    #expect(made.status == 0, "\(made.errors)")
    #expect(made.output.contains("cd 'a b'\\''s'\n"), "\(made.output)")
    let built = try Self.make([], in: place.path + "/a b's")
    #expect(built.status == 0 && !built.output.contains("warning:"), "\(built.output)")
    let checked = try Self.make(["check", "TASKHOST=\(try BuiltProgram.taskhost)"], in: place.path + "/a b's")
    #expect(checked.status == 0, "\(checked.output)")
  }

  @Test("a Swift package depends on the package that is named, and everything in it is filled in")
  func swift() async throws {
    let place = try Place()
    let made = try await place.new("--language", "swift", "notes-sync_2", "--sdk", Self.root.path)
    #expect(made.status == 0, "\(made.errors)")
    #expect(
      place.files == [
        "notes-sync_2/Makefile", "notes-sync_2/Package.swift", "notes-sync_2/README.md",
        "notes-sync_2/Sources/NotesSync2Note/include/NotesSync2Note.h", "notes-sync_2/Sources/NotesSync2Note/note.c",
        "notes-sync_2/Sources/NotesSync2Plugin/NotesSync2Task.swift",
      ])
    #expect(try place.read("notes-sync_2/Package.swift").contains("path: \"\(Self.root.path)\""))
    #expect(
      try place.read("notes-sync_2/Sources/NotesSync2Note/note.c").contains("\"org.example.notes-sync_2\", \"refresh\", 0, \"0.1.0\""))
    for file in place.files {
      let text = try place.read(file)
      #expect(text.range(of: "@[A-Z_]+@", options: .regularExpression) == nil, "\(file)")
    }
  }

  @Test("with --from-ios the package has Apple's names, and a refresh and a cleanup of the identifier")
  func fromIOS() async throws {
    let place = try Place()
    let made = try await place.new("--language", "swift", "--from-ios", "feed", "--identifier", "org.test.feed", "--sdk", Self.root.path)
    #expect(made.status == 0, "\(made.errors)")
    #expect(try place.read("feed/Package.swift").contains("os=AppleCompat"))
    let source = try place.read("feed/Sources/FeedApp/FeedApp.swift")
    for line in ["@main\nstruct FeedApp: App {", ".appRefresh(\"org.test.feed\")", "import OSLog\nimport SwiftUI"] {
      #expect(source.contains(line), "\(line)")
    }
    #expect(source.contains("\"org.test.feed.cleanup\""))
    #expect(try place.read("feed/Sources/FeedApp/Linux.swift").contains("@c(taskhost_plugin_launch)"))
  }

  @Test("nothing that is there is written over; an empty folder is taken")
  func overwriting() async throws {
    let place = try Place()
    try FileManager.default.createDirectory(atPath: place.path + "/empty", withIntermediateDirectories: false)
    #expect(try await place.new("--language", "c", "a", "--directory", "empty").status == 0)
    let files = place.files
    let again = try await place.new("--language", "rust", "a", "--directory", "empty")
    #expect(again.status == 1)
    #expect(again.errors.contains("empty: already exists and is not empty"))
    #expect(place.files == files)
  }

  @Test(
    "what will not do exits 2, says what will, and writes nothing",
    arguments: [
      (["--language", "cobol", "a"], "c|cpp|swift|rust"), (["--language", "c", "1a"], "begin with a letter"),
      (["--language", "c", "../a"], "begin with a letter"), (["--language", "c", "a b"], "begin with a letter"),
      (["--language", "c", "a", "--identifier", ".x"], "begin with a letter or digit"),
      (["--language", "c", "a", "--kind", "daily"], "refresh, processing, continued"), (["a"], "--language"),
      (["--language", "c", "a", "--sdk", "/"], "--sdk is only for Swift"),
      (["--language", "c", "a", "--from-ios"], "--from-ios is only for Swift"),
      (["--language", "swift", "a", "--from-ios", "--kind", "processing"], "leave --kind out"),
      (["--language", "swift", "a", "--sdk", "/usr"], "is not the taskhost package"),
    ])
  func usage(_ arguments: [String], _ message: String) async throws {
    let place = try Place()
    let result = try await TaskHostProcess.run(["plugins", "new"] + arguments, directory: place.path)
    #expect(result.status == 2, "\(result.errors)")
    #expect(result.errors.contains(message) || result.errors.contains("'c', 'cpp', 'swift'"), "\(result.errors)")
    #expect(place.files == [])
  }

  @Test("with --json it lists the files")
  func asJSON() async throws {
    let place = try Place()
    let result = try await place.new("--language", "c", "a", "--json")
    let made = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    #expect(made["identifier"] as? String == "org.example.a")
    #expect((made["files"] as? [String])?.sorted() == ["Makefile", "README.md", "include/taskhost.h", "src/a.c"])
    #expect(
      try place.read("a/include/taskhost.h")
        == String(contentsOf: Self.root.appending(path: "SDK/CTaskHost/include/taskhost.h"), encoding: .utf8))
  }

  @Test(
    "every file of Packaging/templates is written, and is as it is there but for what is filled in",
    arguments: ["c", "cpp", "rust", "swift", "swift-ios"])
  func complete(_ language: String) async throws {
    let place = try Place()
    let isSwift = language.hasPrefix("swift")
    let options = language == "swift-ios" ? ["swift", "--from-ios"] : [language]
    let made = try await place.new(["--language"] + options + ["ab"] + (isSwift ? ["--sdk", Self.root.path] : []))
    #expect(made.status == 0, "\(made.errors)")
    let folder = Self.root.appending(path: "Packaging/templates/\(language)").path
    let templates = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { name in
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: "\(folder)/\(name)", isDirectory: &isFolder) && !isFolder.boolValue
    }
    let written = templates.map { $0.replacing("@NAME@", with: "ab").replacing("@TYPE@", with: "Ab") }
    #expect(place.files == ((isSwift ? [] : ["include/taskhost.h"]) + written).map { "ab/" + $0 }.sorted())
    for (template, path) in zip(templates, written) {
      let text = try String(contentsOfFile: "\(folder)/\(template)", encoding: .utf8)
      let parts = text.split(separator: /@[A-Z_]+@/)
      let found = try place.read("ab/" + path)
      #expect(parts.count > 1 || found == text, "\(path)")
      #expect(parts.first.map { found.hasPrefix($0) } == true && parts.last.map { found.hasSuffix($0) } == true, "\(path)")
    }
  }
}
