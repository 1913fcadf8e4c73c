import TestSupport
import Foundation
import Glibc
import Testing

/// Faults 1 to 18, 22, 23: files that must be refused before, or while, they are loaded.
@Suite("Broken files", .timeLimit(.minutes(20)))
struct BrokenFileTests {
  /// A broken file in the plugin directory, and how it must be refused.
  struct Case: Sendable {
    let file: String
    let code: String
    /// Words of the sentence that say what was seen.
    let seen: [String]
  }

  @Test("1-18 22 23: every broken file is refused with what was seen and what to do, and the twin beside it runs")
  func brokenFiles() async throws {
    try await HostProcess.prepare { host in
      let cases = try await makeDamaged(in: host) + makeUnusual(in: host) + makeUnlinkable(in: host)
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      for item in cases { try await expectRefusal(item, of: host) }
      try await expectTwinRuns(host)
      let status = try await host.json("status")
      #expect(status["plugins_registered"]?.integer == 3, "the twin, and the first names of the two hard links and the symbolic link")
      #expect(status["plugins_refused"]?.integer == Int64(cases.count))
    }
  }

  @Test("15: a plugin directory that others may write refuses every file in it", arguments: [0o775, 0o757])
  func writableDirectory(_ mode: UInt32) async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.directory.folder("open")
      try host.directory.file("open/one.so", await Fixtures.shared.bytes(of: "faulty_launch"))
      chmod(host.directory("open"), mode)
      try host.configure("")
      try host.directory.file(
        "taskhost.toml", "plugin_directories = [\"plugins\", \"open\"]\n")
      try await host.start()
      try await expectRefusal(
        Case(file: "one.so", code: "writable_by_others", seen: ["/open", "mode 0\(String(mode, radix: 8))"]), of: host)
      try await expectTwinRuns(host)
    }
  }

  @Test("the plugins that come with taskhost register")
  func builtInPlugins() async throws {
    try await HostProcess.prepare { host in
      for name in ["libCleanup.so", "libTokenRefresh.so"] {
        try FileManager.default.copyItem(atPath: try BuiltProgram.besideTaskhost(name), toPath: host.plugins + "/" + name)
      }
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      #expect(try await host.plugin("libCleanup.so")["identifier"]?.string == "org.taskhost.cleanup")
      #expect(try await host.plugin("libTokenRefresh.so")["identifier"]?.string == "org.taskhost.token-refresh")
      try await expectTwinRuns(host)
    }
  }

  // MARK: The cases

  /// Faults 1 to 13: what is in the file.
  private func makeDamaged(in host: HostProcess) async throws -> [Case] {
    let good = [UInt8](try await Fixtures.shared.bytes(of: "faulty_launch"))
    let size = UInt64(good.count)
    func file(_ name: String, _ code: String, _ seen: String..., bytes: [UInt8]) throws -> Case {
      try host.directory.file("plugins/" + name, Data(bytes))
      return Case(file: name, code: code, seen: seen)
    }
    func patched(_ name: String, _ code: String, _ seen: String..., change: (inout [UInt8]) -> Void) throws -> Case {
      var bytes = good
      change(&bytes)
      try host.directory.file("plugins/" + name, Data(bytes))
      return Case(file: name, code: code, seen: seen)
    }
    var cases = [
      try file("f01-empty.so", "empty", "empty", bytes: []),
      try file("f02-text.so", "not_elf", "not an ELF file", bytes: Array("#!/bin/sh\necho hello\n".utf8)),
      try file("f03-header.so", "truncated", "the file at byte 20", bytes: Array(good.prefix(20))),
      try patched("f04-beyond.so", "headers_beyond_end", "the file at byte \(size)") { $0.put(size - 8, at: 32) },
      try patched("f05-overflow.so", "offset_overflow", "64 bits") { $0.put(UInt64.max - 15, at: 64 + 8) },
      try patched("f06-headers.so", "too_many_headers", "65535") { $0.put(UInt16.max, at: 56) },
      try patched("f07-machine.so", "wrong_machine", "is built for") { $0.put(UInt16(0x2A), at: 18) },
      try patched("f08-class.so", "wrong_class", "64-bit") { $0[4] = 1 },
      try patched("f08-order.so", "wrong_byte_order", "little-endian") { $0[5] = 2 },
    ]
    func compiled(_ name: String, _ code: String, _ seen: String..., arguments: [String]) async throws -> Case {
      try await host.add(name, "faulty_launch", arguments)
      return Case(file: name, code: code, seen: seen)
    }
    cases += [
      try await compiled("f09-program.so", "executable", "program", arguments: ["-DFAULT_EXECUTABLE", "-no-pie"]),
      try await compiled("f09-pie.so", "executable", "program", arguments: ["-DFAULT_EXECUTABLE", "-pie"]),
      try await compiled("f09-object.so", "not_shared_object", "object file", arguments: ["-c"]),
      try await compiled("f10-entry.so", "no_entry", "taskhost_plugin_launch", arguments: ["-DFAULT_NO_ENTRY"]),
      try await compiled("f11-data.so", "entry_not_code", "data", arguments: ["-DFAULT_ENTRY_IS_DATA"]),
      try await compiled("f12-none.so", "abi_version", "taskhost_plugin_abi_version", arguments: ["-DFAULT_NO_ABI"]),
      try await compiled("f12-0.so", "abi_version", "built for version 0", arguments: ["-DFAULT_ABI=0"]),
      try await compiled("f12-2.so", "abi_version", "built for version 2", arguments: ["-DFAULT_ABI=2"]),
      try await compiled("f12-max.so", "abi_version", "built for version 4294967295", arguments: ["-DFAULT_ABI=4294967295"]),
    ]
    let lines = "format=1\\\\nabi=1\\\\nidentifier=test.faulty"
    func note(_ name: String, _ code: String, _ seen: String..., text: String, more: [String] = []) async throws -> Case {
      try await host.add(name, "faulty_launch", ["-DFAULT_NOTE=\"\(text)\""] + more)
      return Case(file: name, code: code, seen: seen)
    }
    func ascii(_ text: String) -> String { ".ascii \\\"\(text)\\\"" }
    cases += [
      try await note("f13-other.so", "note_disagrees", "test.other", text: ascii("format=1\\\\nabi=1\\\\nidentifier=test.other\\\\n")),
      try await note(
        "f13-kind.so", "note_disagrees", "processing", text: ascii("format=1\\\\nabi=1\\\\nidentifier=test.kind\\\\nkind=processing\\\\n"),
        more: ["-DIDENTIFIER=\"test.kind\""]),
      try await note("f13-big.so", "bad_note", "more than 4096", text: ascii(lines + "\\\\n") + "; .fill 5000,1,10"),
      try await note("f13-twice.so", "bad_note", "twice", text: ascii(lines + "\\\\nidentifier=test.faulty\\\\n")),
      try await note("f13-utf8.so", "bad_note", "UTF-8", text: ascii(lines + "\\\\nversion=") + "; .byte 0xff,0xfe,10"),
      try await note("f13-cut.so", "bad_note", text: ascii("format=1\\\\nabi=1\\\\nidenti")),
    ]
    return cases
  }

  /// Faults 14 to 18: what the file is.
  private func makeUnusual(in host: HostProcess) async throws -> [Case] {
    let good = try await Fixtures.shared.bytes(of: "faulty_launch", ["-DIDENTIFIER=\"test.linked\""])
    let other = try await Fixtures.shared.bytes(of: "faulty_launch", ["-DIDENTIFIER=\"test.target\""])
    func path(_ name: String) -> String { host.plugins + "/" + name }
    var cases: [Case] = []
    try #require(mkfifo(path("f14-fifo.so"), 0o600) == 0)
    cases.append(Case(file: "f14-fifo.so", code: "not_regular", seen: ["FIFO"]))
    try host.directory.folder("plugins/f14-folder.so")
    cases.append(Case(file: "f14-folder.so", code: "not_regular", seen: ["directory"]))
    try #require(mknod(path("f14-socket.so"), S_IFSOCK | 0o600, 0) == 0)
    cases.append(Case(file: "f14-socket.so", code: "not_regular", seen: ["socket"]))
    try host.directory.file("plugins/f14-sparse.so", good)
    try #require(truncate(path("f14-sparse.so"), 8 << 30) == 0)
    cases.append(Case(file: "f14-sparse.so", code: "too_big", seen: ["8589934592"]))
    try host.directory.file("plugins/f15-group.so", good, mode: 0o664)
    cases.append(Case(file: "f15-group.so", code: "writable_by_others", seen: ["group", "0664"]))
    try host.directory.file("plugins/f15-others.so", good, mode: 0o646)
    cases.append(Case(file: "f15-others.so", code: "writable_by_others", seen: ["others", "0646"]))
    if geteuid() == 0 {
      try #require(mknod(path("f14-device.so"), S_IFCHR | 0o600, 0x103) == 0)
      cases.append(Case(file: "f14-device.so", code: "not_regular", seen: ["device"]))
      try host.directory.file("plugins/f16-owner.so", good)
      try #require(chown(path("f16-owner.so"), 12_345, 12_345) == 0)
      cases.append(Case(file: "f16-owner.so", code: "wrong_owner", seen: ["12345"]))
    }
    try host.directory.file("plugins/f17-a.so", good)
    try #require(link(path("f17-a.so"), path("f17-b.so")) == 0)
    cases.append(Case(file: "f17-b.so", code: "same_file", seen: ["f17-a.so"]))
    try host.directory.file("plugins/f17-target.so", other)
    try #require(symlink("f17-target.so", path("f17-link.so")) == 0)
    try #require(symlink("nowhere.so", path("f18-dangling.so")) == 0)
    try #require(symlink("f18-loop.so", path("f18-loop.so")) == 0)
    for name in ["f17-link.so", "f18-dangling.so", "f18-loop.so"] {
      cases.append(Case(file: name, code: "symbolic_link", seen: ["symbolic link"]))
    }
    return cases
  }

  /// Faults 22, 23: what the file needs.
  private func makeUnlinkable(in host: HostProcess) async throws -> [Case] {
    let library = host.directory("libdependency.so")
    let stub = try host.directory.file("dependency.c", "int dependency(void) { return 1; }\n")
    let made = try await Program.run(
      "/usr/bin/env", ["cc", "-shared", "-fPIC", "-Wl,-soname,libtaskhost-test-dependency.so", stub, "-o", library])
    try #require(made.status == 0, "\(made.errors)")
    try await host.add("f22-missing.so", "faulty_launch", ["-DFAULT_DEPENDENCY", library], isCached: false)
    try await host.add("f23-symbol.so", "faulty_launch", ["-DFAULT_UNRESOLVED"])
    return [
      Case(file: "f22-missing.so", code: "dependency_missing", seen: ["libtaskhost-test-dependency.so"]),
      Case(file: "f23-symbol.so", code: "unresolved_symbol", seen: ["there_is_no_such_function_anywhere"]),
    ]
  }

  @Test("22: a library that is there in another version is a missing dependency")
  func wrongVersion() async throws {
    try await HostProcess.prepare { host in
      // The system has this library, and not this version of it.
      let stub = try host.directory.file("dependency.c", "int dependency(void) { return 1; }\n")
      let script = try host.directory.file("versions", "TASKHOST_TEST_2 { global: dependency; local: *; };\n")
      let library = host.directory("libm.so")
      let made = try await Program.run(
        "/usr/bin/env", ["cc", "-shared", "-fPIC", "-Wl,-soname,libm.so.6", "-Wl,--version-script,\(script)", stub, "-o", library])
      try #require(made.status == 0, "\(made.errors)")
      try await host.add("f22-version.so", "faulty_launch", ["-DFAULT_DEPENDENCY", library], isCached: false)
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      try await expectRefusal(Case(file: "f22-version.so", code: "dependency_missing", seen: ["TASKHOST_TEST_2"]), of: host)
      try await expectTwinRuns(host)
    }
  }
}

extension [UInt8] {
  /// Writes a little-endian number.
  fileprivate mutating func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    Swift.withUnsafeBytes(of: number.littleEndian) { bytes in
      for (index, byte) in bytes.enumerated() { self[offset + index] = byte }
    }
  }
}
