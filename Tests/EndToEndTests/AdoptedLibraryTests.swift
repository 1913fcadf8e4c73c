import TestSupport
import Foundation
import Testing

/// Manifests `NAME.task.toml` under the real host: libraries that know nothing of taskhost become plugins.
@Suite("Adopted libraries", .timeLimit(.minutes(20)))
struct AdoptedLibraryTests {
  /// A manifest's text.
  private static func manifest(
    _ identifier: String, _ library: String, _ symbol: String, _ signature: String, success: String? = nil
  ) -> String {
    """
    identifier = "\(identifier)"
    kind = "refresh"
    library = "\(library)"
    symbol = "\(symbol)"
    signature = "\(signature)"
    \(success.map { "success = \"\($0)\"" } ?? "")

    """
  }

  /// Gives `body` a host that has launched with these manifests, by name.
  private func withManifests(
    _ manifests: [String: String], isolation: Isolation = .process, _ body: (HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      for (name, text) in manifests { try host.directory.file("plugins/\(name).task.toml", text) }
      let identifiers = manifests.values.compactMap { $0.split(separator: "\"").dropFirst().first }
      try host.configure(
        isolation == .process ? "" : identifiers.map { "[plugin.\"\($0)\"]\nisolation = \"thread\"\n" }.joined(separator: "\n"))
      try await host.start()
      try await body(host)
    }
  }

  /// Compiles `adopted.c` to where only a manifest finds it.
  private func addLibrary(_ host: HostProcess) async throws -> String {
    try host.directory.folder("libraries")
    return try host.directory.file("libraries/libadopted.so", try await Fixtures.shared.bytes(of: "adopted"))
  }

  @Test("functions of zlib, SQLite, the C library and libm become tasks", arguments: Isolation.allCases)
  func systemLibraries(_ isolation: Isolation) async throws {
    let manifests = [
      "crc32": Self.manifest("test.crc32", "libz.so.1", "crc32", "u64(u64 crc?, bytes data)", success: "any"),
      "version": Self.manifest("test.sqlite.version", "libsqlite3.so.0", "sqlite3_libversion", "str()"),
      "complete": Self.manifest("test.sqlite.complete", "libsqlite3.so.0", "sqlite3_complete", "i32(str sql)", success: "nonzero"),
      "strlen": Self.manifest("test.strlen", "libc.so.6", "strlen", "u64(str text)", success: "any"),
      "pow": Self.manifest("test.pow", "libm.so.6", "pow", "f64(f64 base, f64 exponent)"),
    ]
    try await withManifests(manifests, isolation: isolation) { host in
      func output(_ identifier: String, _ payload: String, outcome: String = "succeeded") async throws -> JSON? {
        let answer = try await host.submitAndWait(identifier, payload)
        #expect(answer["outcome"]?.string == outcome, "\(answer)")
        return answer["run"]?["output"]
      }
      #expect(try await output("test.crc32", #"{"data":"MTIzNDU2Nzg5"}"#) == .integer(3_421_780_262))
      #expect(try await output("test.sqlite.version", "{}")?.string?.hasPrefix("3.") == true)
      #expect(try await output("test.sqlite.complete", #"{"sql":"SELECT 1;"}"#) == .integer(1))
      #expect(try await output("test.sqlite.complete", #"{"sql":"SELECT 1"}"#, outcome: "failed") == .integer(0))
      #expect(try await output("test.strlen", #"{"text":"grüße"}"#) == .integer(7))
      #expect(try await output("test.pow", #"{"base":2,"exponent":0.5}"#) == .number(1.4142135623730951))
      for name in manifests.keys {
        let plugin = try await host.plugin("\(name).task.toml")
        #expect(plugin["isolation"]?.string == isolation.rawValue, "\(plugin)")
      }
    }
  }

  @Test("a library of one's own is loaded from a private copy", arguments: Isolation.allCases)
  func ownLibrary(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      let library = try await addLibrary(host)
      try host.directory.file("plugins/a.task.toml", Self.manifest("test.subtract", library, "subtract", "i32(i32 left, i32 right)"))
      try host.directory.file("plugins/b.task.toml", Self.manifest("test.greet", library, "greet", "str(str name?)"))
      try host.configure(
        isolation == .process
          ? "" : "[plugin.\"test.subtract\"]\nisolation = \"thread\"\n[plugin.\"test.greet\"]\nisolation = \"thread\"\n")
      for _ in 1...2 {
        try await host.start()
        try Data("overwritten".utf8).write(to: URL(filePath: library))
        let zero = try await host.submitAndWait("test.subtract", #"{"left":5,"right":5}"#)
        #expect(zero["outcome"]?.string == "succeeded", "\(zero)")
        let difference = try await host.submitAndWait("test.subtract", #"{"left":5,"right":7}"#)
        #expect(difference["outcome"]?.string == "failed")
        #expect(difference["run"]?["output"] == .integer(-2))
        let greeting = try await host.submitAndWait("test.greet", #"{"name":"Ada"}"#)
        #expect(greeting["run"]?["output"]?.string == "hello Ada", "\(greeting)")
        try await host.terminate()
        _ = try await addLibrary(host)
      }
    }
  }

  @Test("a manifest's plugin is configured by its identifier as any other")
  func configured() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file("plugins/v.task.toml", Self.manifest("test.version", "libsqlite3.so.0", "sqlite3_libversion", "str()"))
      try host.configure(
        "permitted_identifiers = [\"test.version\"]\n[plugin.\"test.version\"]\nfile = \"v.task.toml\"\nschedule = \"every 6h\"\nbudget = \"5s\"\n"
      )
      try await host.start()
      let requests = try await host.json("tasks", "list")["requests"]?.array ?? []
      #expect(requests.first?["identifier"]?.string == "test.version", "\(requests)")
    }
  }

  @Test("a permitted identifier whose manifest is refused keeps the host from launching, with the reason")
  func permittedAndRefused() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file("plugins/c.task.toml", Self.manifest("test.crc", "libz.so.1", "crc33", "u64(u64 crc)"))
      try host.configure("permitted_identifiers = [\"test.crc\"]\n")
      let failure = try await host.failure()
      #expect(failure.status == 78)
      #expect(
        failure.errors.contains("permitted identifier test.crc: c.task.toml: its library libz.so.1: does not export crc33"), "\(failure)")
    }
  }

  @Test("an adopted function that ends its process costs its worker alone")
  func leaving() async throws {
    try await HostProcess.prepare { host in
      let library = try await addLibrary(host)
      try host.directory.file("plugins/leave.task.toml", Self.manifest("test.leave", library, "leave", "void()"))
      try host.configure("[retry]\nattempts = 1\n")
      try await host.start()
      let answer = try await host.submitAndWait("test.leave", "{}")
      #expect(answer["run"]?["outcome"]?.string == "crashed", "\(answer)")
      #expect(host.isRunning)
    }
  }

  @Test(
    "a manifest that cannot be taken is refused with what to do",
    arguments: [
      ("libz.so.1", "crc33", "u64(u64 crc)", "", "no_symbol", "its library libz.so.1: does not export crc33"),
      ("libc.so.6", "environ", "i32()", "", "symbol_not_code", "its library libc.so.6: environ is data, not a function"),
      ("libnothing.so.9", "f", "i32()", "", "library_missing", "its library libnothing.so.9 is in none of /lib"),
      ("/nowhere/lib.so", "f", "i32()", "", "library_missing", "its library /nowhere/lib.so cannot be found: No such file or directory"),
      ("/etc/passwd", "f", "i32()", "", "not_elf", "its library /etc/passwd: is not an ELF file"),
      ("lib/z.so", "f", "i32()", "", "bad_manifest", "line 3, column 1: library: \"lib/z.so\" is neither an absolute path nor the name"),
      ("libz.so.1", "crc32", "u64(u64 crc, byte data)", "", "bad_manifest", "line 5, column 1: signature: column 14: byte is not a type"),
      (
        "libz.so.1", "crc32", "u64(u64 crc)", "sucess = \"any\"", "bad_manifest",
        "line 6, column 1: unknown key \"sucess\" (did you mean \"success\"?)"
      ),
      ("libz.so.1", "crc32", "u64(u64 crc)", "success = \"some\"", "bad_manifest", "line 6, column 1: success: unknown value \"some\""),
      ("libm.so.6", "pow", "f64(f64 x, f64 y)", "success = \"zero\"", "bad_manifest", "does not apply to a result of type f64"),
      ("libz.so.1", "crc32", "u64(u64 crc)", "success = any", "bad_manifest", "line 6, column 11: not valid TOML"),
    ])
  func refused(
    _ library: String, _ symbol: String, _ signature: String, _ line: String, _ code: String, _ sentence: String
  ) async throws {
    let text = Self.manifest("test.refused", library, symbol, signature).trimmingCharacters(in: .newlines) + "\n\(line)\n"
    try await withManifests(["m": text]) { host in
      let plugin = try await host.plugin("m.task.toml")
      let reason = try #require(plugin["reason"], "\(plugin)")
      #expect(reason["code"]?.string == code, "\(reason)")
      #expect(reason["message"]?.string?.contains(sentence) == true, "\(reason)")
    }
  }

  @Test("a manifest that nests without end is refused like any other, and costs the host nothing")
  func nested() async throws {
    let good = Self.manifest("test.version", "libsqlite3.so.0", "sqlite3_libversion", "str()")
    let manifests = ["deep": "x = " + String(repeating: "[", count: 65_000), "good": good, "long": String(repeating: "a.", count: 32_000)]
    try await withManifests(manifests) { host in
      for name in ["deep", "long"] {
        let reason = try #require(try await host.plugin("\(name).task.toml")["reason"])
        #expect(reason["code"]?.string == "bad_manifest", "\(reason)")
        #expect(reason["message"]?.string?.contains("more than 32 tables, keys and lists deep") == true, "\(reason)")
      }
      #expect(try await host.plugin("good.task.toml")["identifier"]?.string == "test.version")
    }
  }

  @Test("a library that others may write, or a link to one, is refused")
  func untrusted() async throws {
    try await HostProcess.prepare { host in
      let library = try await addLibrary(host)
      try FileManager.default.createSymbolicLink(
        atPath: host.directory("libraries/link.so"), withDestinationPath: library)
      try host.directory.file("libraries/open.so", try await Fixtures.shared.bytes(of: "adopted"), mode: 0o666)
      for name in ["link", "open"] {
        try host.directory.file(
          "plugins/\(name).task.toml", Self.manifest("test.\(name)", host.directory("libraries/\(name).so"), "answer", "i32()"))
      }
      try host.configure("")
      try await host.start()
      #expect(try await host.plugin("link.task.toml")["reason"]?["code"]?.string == "symbolic_link")
      #expect(try await host.plugin("open.task.toml")["reason"]?["code"]?.string == "writable_by_others")
    }
  }

  @Test("two manifests for one identifier: the first keeps it")
  func taken() async throws {
    let text = Self.manifest("test.version", "libsqlite3.so.0", "sqlite3_libversion", "str()")
    try await withManifests(["a": text, "b": text]) { host in
      let (first, second) = (try await host.plugin("a.task.toml"), try await host.plugin("b.task.toml"))
      #expect(first["identifier"]?.string == "test.version", "\(first)")
      #expect(second["reason"]?["code"]?.string == "identifier_taken", "\(second)")
    }
  }
}
