import TestSupport
import Glibc
import TaskModel
import Testing

@testable import PluginTrust

@Suite("Private copies") struct PrivateCopyTests {
  @Test("a plugin is copied under the digest of its content, for the host alone")
  func taking() throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    let bytes = try SamplePlugin.read(path)
    let plugin = try fixture.copies.take(path)
    #expect(plugin.file == (try PluginFile(inspecting: path)))
    #expect(plugin.digest == SHA256.digest(of: bytes))
    #expect(plugin.copy == fixture.copy(plugin.digestText + ".so"))
    #expect(try SamplePlugin.read(plugin.copy) == bytes)
    #expect(try CopyFixture.info(plugin.copy).st_mode == S_IFREG | 0o500)
    #expect(try CopyFixture.info(fixture.copies.directory).st_mode == S_IFDIR | 0o700)
    #expect(try fixture.copyNames == [plugin.digestText + ".so"])
    #expect(try LoadedLibrary(plugin.copy).answer() == 42)
    #expect(fixture.copies.settle() && fixture.copies.settle())
  }

  @Test("files of several chunks are copied whole", arguments: [0, 1, (256 << 10) - 1, 256 << 10, (256 << 10) + 1, 1_000_003])
  func sizes(_ padding: Int) throws {
    let fixture = try CopyFixture()
    let bytes = try SamplePlugin.bytes.get() + (0..<padding).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let path = try fixture.plugins.write(bytes, to: "lib.so")
    let plugin = try fixture.copies.take(path)
    #expect(plugin.digest == SHA256.digest(of: bytes))
    #expect(try SamplePlugin.read(plugin.copy) == bytes)
  }

  /// What is done to the original, from a shell with its path as `$1` and another plugin's as `$2`.
  static let harms = [
    "dd if=/dev/zero of=\"$1\" conv=notrunc bs=4096 count=8 2>/dev/null", "truncate -s 0 \"$1\"", "truncate -s 100 \"$1\"",
    "cp \"$2\" \"$1\"", "mv \"$2\" \"$1\"", "rm \"$1\"", "chmod 000 \"$1\"", "rm -r \"$(dirname \"$1\")\"",
  ]

  @Test("whatever becomes of the original, the loaded copy runs on and can be loaded again", arguments: harms)
  func harmed(_ harm: String) throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    let other = try fixture.plugin(answering: 43, to: "other.so")
    let plugin = try fixture.copies.take(path)
    let library = try LoadedLibrary(plugin.copy)
    try #require(Program.status(["sh", "-c", harm, "sh", path, other]) == 0)
    #expect(try library.answer() == 42)
    #expect(try LoadedLibrary(plugin.copy).answer() == 42)
    #expect(SHA256.digest(of: try SamplePlugin.read(plugin.copy)) == plugin.digest)
  }

  @Test(
    "a file that another replaced between listing and copying is refused, whatever takes its place",
    arguments: ["cp", "mv", "append", "touch"])
  func replaced(_ way: String) throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    let other = try fixture.plugin(answering: 43, to: "other.so")
    let listed = try #require(try fixture.plugins.scan().accepted.first { $0.path == path })
    #expect(try fixture.copies.take(path, listed: listed).file == listed)
    let command =
      switch way {
      case "append": "echo >> '\(path)'"
      case "touch": "touch '\(path)'"
      default: "\(way) '\(other)' '\(path)'"
      }
    try #require(Program.status(["sh", "-c", command]) == 0)
    #expect(#expect(throws: PluginRefusal.self) { try fixture.copies.take(path, listed: listed) }?.code == .changed)
    #expect(try fixture.copyNames.count == 1)
  }

  @Test("a file that changes while it is copied is refused")
  func changing() throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    let changes: [@Sendable () throws -> Void] = [
      { try #require(truncate(path, 500) == 0) }, { try #require(truncate(path, 50_000) == 0) }, { try #require(chmod(path, 0o700) == 0) },
      { try #require(link(path, path + ".2") == 0) },
    ]
    for change in changes {
      let rejection = #expect(throws: Rejection.self) {
        try TrustedDirectory.opened(path, user: geteuid()) { directory throws(Rejection) in
          try PluginInspection(policy: PluginTrustPolicy())
            .opening(directory.name, in: directory.descriptor, path: path, claim: { _ in nil }) { _, _ throws(Rejection) in
              do { try change() } catch { throw .unreadable(0) }
            }
        }
      }
      #expect(rejection == .changed)
    }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    for size in [49_999, 50_001] as [UInt64] {
      #expect(throws: Rejection.changed) { try FileDigest.sha256(of: BoundedFile(descriptor: descriptor, size: size)) }
    }
  }

  @Test("what a scan refuses is not copied")
  func refused() throws {
    let fixture = try CopyFixture()
    let bytes = try SamplePlugin.bytes.get()
    let plugins = fixture.plugins
    try plugins.write(bytes, to: "good.so")
    try plugins.write(bytes, to: "writable.so", mode: 0o666)
    try plugins.write(Array("text".utf8), to: "text.so")
    try plugins.write(Array(bytes.prefix(100)), to: "cut.so")
    try #require(symlink(plugins.file("good.so"), plugins.file("link.so")) == 0)
    try #require(mkfifo(plugins.file("fifo.so"), 0o644) == 0)
    try #require(mkdir(plugins.file("directory.so"), 0o755) == 0)
    let refusals = try plugins.scan().refusals
    #expect(refusals.count == 6)
    for (name, code) in refusals {
      #expect(#expect(throws: PluginRefusal.self) { try fixture.copies.take(plugins.file(name)) }?.code == code, "\(name)")
    }
    #expect(#expect(throws: PluginRefusal.self) { try fixture.copies.take(plugins.file("none.so")) }?.code == .unreadable)
    try #require(chmod(plugins.path, 0o777) == 0)
    #expect(#expect(throws: PluginRefusal.self) { try fixture.copies.take(plugins.file("good.so")) }?.code == .writableByOthers)
    #expect(try fixture.copyNames.isEmpty)
  }

  @Test("two files with one content share a copy, also when many threads take them at once")
  func shared() async throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    try #require(Program.status(["cp", path, fixture.plugins.file("second.so")]) == 0)
    let other = try fixture.plugin(answering: 43, to: "other.so")
    let (copies, second) = (fixture.copies, fixture.plugins.file("second.so"))
    let taken = try await withThrowingTaskGroup(of: String.self) { group in
      for index in 0..<24 {
        group.addTask {
          let plugin = try copies.take([path, second, other][index % 3])
          #expect(try SamplePlugin.read(plugin.copy).count == Int(plugin.file.size))
          return plugin.copy
        }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(taken.count == 2)
    #expect(try fixture.copyNames.count == 2)
  }

  @Test("a damaged copy is not accepted as known where its marks show it, and replaced when the plugin is taken again")
  func damaged() throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    let first = try fixture.copies.take(path)
    let known = first.file.known(digest: first.digest)
    #expect(fixture.copies.copy(of: known) == first.copy)
    let harms = [
      "truncate -s 10 \"$1\"", "chmod 700 \"$1\"", "rm \"$1\"", "ln \"$1\" \"$1.link\"", "rm \"$1\"; ln -s /dev/null \"$1\"",
      "rm \"$1\"; mkfifo -m 500 \"$1\"",
    ]
    for harm in harms {
      try #require(Program.status(["sh", "-c", harm, "sh", first.copy]) == 0)
      #expect(fixture.copies.copy(of: known) == nil, "\(harm)")
      #expect(#expect(throws: PluginRefusal.self) { try fixture.copies.reopen(known) }?.code == .copyFailed, "\(harm)")
      #expect(try fixture.copies.take(path).copy == first.copy)
      #expect(fixture.copies.copy(of: known) == first.copy, "\(harm)")
      #expect(try LoadedLibrary(first.copy).answer() == 42, "\(harm)")
    }
    // Its marks cannot show this one; reading does.
    let flip = "chmod 700 \"$1\" && printf X | dd of=\"$1\" bs=1 seek=5000 conv=notrunc 2>/dev/null && chmod 500 \"$1\""
    try #require(Program.status(["sh", "-c", flip, "sh", first.copy]) == 0)
    #expect(SHA256.digest(of: try SamplePlugin.read(first.copy)) != first.digest)
    _ = try fixture.copies.take(path)
    #expect(SHA256.digest(of: try SamplePlugin.read(first.copy)) == first.digest)
  }

  @Test("a known plugin is opened again from its copy, the original unread")
  func reopening() throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    let first = try fixture.copies.take(path)
    try #require(unlink(path) == 0)
    let known = first.file.known(digest: first.digest)
    let again = try fixture.copies.reopen(known)
    #expect(again.file == first.file)
    #expect(again.copy == first.copy)
    #expect(again.remembered == known)
  }

  @Test("a file that changed just before it was copied is not remembered, one that is older is")
  func racyTimes() throws {
    let fixture = try CopyFixture()
    let plugin = try fixture.copies.take(try fixture.plugin(answering: 42))
    let marks = plugin.file.marks
    #expect(!FileClock.hasSettled(marks, at: plugin.file.marks.changed))
    #expect(!FileClock.hasSettled(marks, at: plugin.file.marks.changed - 1_000_000_000))
    #expect(FileClock.hasSettled(marks, at: plugin.file.marks.changed + 2_500_000_000))
    #expect(!FileClock.hasSettled(marks, at: .min))
    #expect(plugin.remembered == nil || plugin.remembered == plugin.file.known(digest: plugin.digest))
  }

  @Test("unused copies and what a killed host left half written are removed; what is being written and all else stays")
  func cleaning() throws {
    let fixture = try CopyFixture()
    let one = try fixture.copies.take(try fixture.plugin(answering: 1, to: "1.so"))
    let two = try fixture.copies.take(try fixture.plugin(answering: 2, to: "2.so"))
    let library = try LoadedLibrary(two.copy)
    let current = PluginCopies.temporaryPrefix + fixture.copies.mark + "-99"
    for name in [".new-0123-1", current, "note.txt", "short.so", String(repeating: "A", count: 64) + ".so"] {
      try fixture.state.write([1], to: "copies/" + name)
    }
    #expect(fixture.copies.removeAllBut([one.digest]) == 2)
    #expect(
      try fixture.copyNames
        == [current, String(repeating: "A", count: 64) + ".so", one.digestText + ".so", "note.txt", "short.so"].sorted())
    #expect(try library.answer() == 2)
    #expect(fixture.copies.removeAllBut([one.digest]) == 0)
    #expect(fixture.copies.settle())
  }

  @Test("a copy that cannot be written is a refusal that says so")
  func unwritable() throws {
    let fixture = try CopyFixture()
    let path = try fixture.plugin(answering: 42)
    try #require(rmdir(fixture.copies.directory) == 0)
    let refusal = #expect(throws: PluginRefusal.self) { try fixture.copies.take(path) }
    #expect(refusal?.code == .copyFailed)
    #expect(refusal?.observed.contains("No such file or directory") == true)
  }
}
