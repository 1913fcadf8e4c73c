import Glibc
import PluginTrust
import TaskModel
import Testing

@Suite("Files known from an earlier launch") struct KnownFileTests {
  @Test("a file whose marks are those remembered is accepted without being read, in its place among the others")
  func unread() throws {
    let directory = try PluginDirectory()
    // Whoever reads it refuses it.
    let path = try directory.write(Array("no plugin at all".utf8), to: "b.so")
    for name in ["a.so", "c.so"] { try directory.write(try SamplePlugin.bytes.get(), to: name) }
    #expect(try directory.scan().refusals == ["b.so": .notElf])
    let known = try CopyFixture.known(path)
    let scan = try PluginDirectoryScan(directories: [directory.path]) { $0 == path ? known : nil }
    #expect(scan.entries[1] == .known(known))
    #expect(scan.entries.map(\.path) == ["a.so", "b.so", "c.so"].map(directory.file))
    #expect(scan.acceptedNames == ["a.so", "c.so"])
    #expect(scan.refused.isEmpty)
  }

  @Test("a file with one mark that is another is read", arguments: 0..<5)
  func marks(_ mark: Int) throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    var known = try CopyFixture.known(path)
    switch mark {
    case 0: known.device += 1
    case 1: known.inode += 1
    case 2: known.size += 1
    case 3: known.modified += 1
    default: known.changed -= 1
    }
    let scan = try PluginDirectoryScan(directories: [directory.path]) { [known] _ in known }
    #expect(scan.acceptedNames == ["lib.so"])
  }

  @Test("replacing the content and setting the old times again does not make it known: the time of change moves")
  func forgedTimes() throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    var old = timespec()
    old.tv_sec = 1_600_000_000
    try #require(utimensat(AT_FDCWD, path, [old, old], 0) == 0)
    let known = try CopyFixture.known(path)
    // A clock of ticks may give two changes one time, so change until it moved: there is an end, the clock goes on.
    repeat {
      try directory.write(Array("evil".utf8) + (try SamplePlugin.bytes.get()).dropFirst(4), to: "lib.so")
      try #require(utimensat(AT_FDCWD, path, [old, old], 0) == 0)
    } while try CopyFixture.known(path).changed == known.changed
    #expect(try CopyFixture.known(path).modified == known.modified)
    let scan = try PluginDirectoryScan(directories: [directory.path]) { _ in known }
    #expect(scan.refusals == ["lib.so": .notElf])
  }

  @Test("a known file is still refused for a mode or owner that is not allowed")
  func mode() throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "lib.so", mode: 0o666)
    let known = try CopyFixture.known(path)
    #expect(try PluginDirectoryScan(directories: [directory.path]) { _ in known }.refusals == ["lib.so": .writableByOthers])
    try #require(chmod(path, 0o644) == 0)
    let again = try CopyFixture.known(path)
    let stranger = PluginTrustPolicy(user: 54_321)
    if geteuid() != 0 {
      #expect(try PluginDirectoryScan(directories: [directory.path], policy: stranger) { _ in again }.entries.isEmpty)
    }
    #expect(try PluginDirectoryScan(directories: [directory.path]) { _ in again }.entries == [.known(again)])
    try #require(chmod(directory.path, 0o777) == 0)
    #expect(try PluginDirectoryScan(directories: [directory.path]) { _ in again }.refusals == ["lib.so": .writableByOthers])
  }

  @Test("a known file of another user is refused", .enabled(if: geteuid() == 0))
  func owner() throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    try #require(chown(path, 54_321, 0) == 0)
    let known = try CopyFixture.known(path)
    #expect(try PluginDirectoryScan(directories: [directory.path]) { _ in known }.refusals == ["lib.so": .wrongOwner])
  }

  @Test("a hard link to a known file is refused, whichever of the two is known")
  func hardLinks() throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "a.so")
    try #require(link(path, directory.file("b.so")) == 0)
    for knownNames in [["a.so"], ["b.so"], ["a.so", "b.so"]] {
      let known = try Dictionary(uniqueKeysWithValues: knownNames.map { (directory.file($0), try CopyFixture.known(directory.file($0))) })
      let scan = try PluginDirectoryScan(directories: [directory.path]) { known[$0] }
      #expect(scan.entries.map(\.path) == [directory.file("a.so")])
      #expect(scan.refusals == ["b.so": .sameFile])
    }
  }

  @Test("a link or a directory in a known file's place is refused, a removed file not listed")
  func otherKind() throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    let known = try CopyFixture.known(path)
    try #require(rename(path, directory.file("moved")) == 0)
    #expect(try PluginDirectoryScan(directories: [directory.path]) { _ in known }.entries.isEmpty)
    try #require(symlink("moved", path) == 0)
    #expect(try PluginDirectoryScan(directories: [directory.path]) { _ in known }.refusals == ["lib.so": .symbolicLink])
  }

  @Test("a warm start over many files reads none of them and finds every copy")
  func warm() throws {
    let fixture = try CopyFixture()
    let base = try SamplePlugin.bytes.get()
    var known: [String: KnownPluginFile] = [:]
    for index in 0..<100 {
      let path = try fixture.plugins.write(base + [UInt8(index)], to: "\(index).so")
      let plugin = try fixture.copies.take(path)
      known[path] = plugin.file.known(digest: plugin.digest)
    }
    let scan = try PluginDirectoryScan(directories: [fixture.plugins.path]) { known[$0] }
    #expect(scan.entries.count == 100)
    #expect(scan.accepted.isEmpty)
    for case .known(let file) in scan.entries { #expect(fixture.copies.copy(of: file) != nil) }
    #expect(fixture.copies.removeAllBut(Set(known.values.map(\.digest))) == 0)
  }
}
