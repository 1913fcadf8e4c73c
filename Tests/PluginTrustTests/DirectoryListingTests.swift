import Glibc
import Testing

@testable import PluginTrust

@Suite("Listing of plugin directories") struct DirectoryListingTests {
  @Test("files are taken in byte order of their names, other names and hidden files passed over")
  func order() throws {
    let directory = try PluginDirectory()
    let bytes = try SamplePlugin.bytes.get()
    for name in ["b.so", "a.so", "Z.so", "a-1.so", "é.so", "a.so.1", "a.sO", ".hidden.so", "readme.txt", "so"] {
      try directory.write(bytes, to: name)
    }
    let scan = try directory.scan()
    #expect(scan.acceptedNames == ["Z.so", "a-1.so", "a.so", "b.so", "é.so"])
    #expect(scan.refused.isEmpty)
  }

  @Test("directories are taken in the order given, one given twice only once")
  func several() throws {
    let (one, two) = (try PluginDirectory(), try PluginDirectory())
    try one.write(try SamplePlugin.bytes.get(), to: "b.so")
    try two.write(try SamplePlugin.bytes.get(), to: "a.so")
    let scan = try PluginDirectoryScan(directories: [one.path, two.path, one.path + "/."])
    #expect(scan.accepted.map(\.path) == [one.file("b.so"), two.file("a.so")])
    #expect(scan.refused.isEmpty)
  }

  @Test("an accepted file says which file it was")
  func identity() throws {
    let directory = try PluginDirectory()
    let path = try directory.write(try SamplePlugin.bytes.get(), to: "lib.so")
    var info = stat()
    try #require(stat(path, &info) == 0)
    let file = try #require(try directory.scan().accepted.first)
    #expect(file.path == path)
    #expect(file.marks.inode == UInt64(info.st_ino))
    #expect(file.marks.device == UInt64(info.st_dev))
    #expect(file.size == UInt64(info.st_size))
    #expect(file.marks.modified == Int64(info.st_mtim.tv_sec) * 1_000_000_000 + Int64(info.st_mtim.tv_nsec))
  }

  @Test("a manifest is listed with its text, whatever that says")
  func manifest() throws {
    let directory = try PluginDirectory()
    try directory.write(Array("identifier = \"a\"".utf8), to: "lib.task.toml")
    let scan = try directory.scan()
    let file = try #require(scan.entries.compactMap { if case .manifest(let file) = $0 { file } else { nil } }.first)
    #expect(file.text == "identifier = \"a\"")
    #expect(file.path == directory.file("lib.task.toml"))
    #expect(file.digest.count == 32)
  }

  @Test("a manifest that others may write, is too large or is no text is refused")
  func badManifests() throws {
    let directory = try PluginDirectory()
    try directory.write([], to: "open.task.toml", mode: 0o666)
    try directory.write(Array(repeating: 0x20, count: 65_537), to: "large.task.toml")
    try directory.write([0xff], to: "latin.task.toml")
    #expect(
      try directory.scan().refusals == [
        "open.task.toml": .writableByOthers, "large.task.toml": .tooBig, "latin.task.toml": .badManifest,
      ])
  }

  @Test("a name with control characters or bad UTF-8 is refused, and cannot forge a line")
  func names() throws {
    let directory = try PluginDirectory()
    try directory.write([], to: "a\nb.so")
    let invalid = Array(directory.path.utf8CString.dropLast()) + [0x2f, CChar(bitPattern: 0xff), 0x2e, 0x73, 0x6f, 0]
    let descriptor = open(invalid, O_CREAT | O_WRONLY | O_CLOEXEC, 0o644)
    try #require(descriptor >= 0)
    close(descriptor)
    #expect(try directory.scan().refusals == ["a?b.so": .badName, "?.so": .badName])
  }

  @Test("a directory that is missing, a file or a loop is an error that names it")
  func unusable() throws {
    let directory = try PluginDirectory()
    try directory.write([], to: "file")
    try #require(symlink("loop", directory.file("loop")) == 0)
    for (name, text) in [("missing", "No such file"), ("file", "Not a directory"), ("loop", "Too many levels")] {
      let error = #expect(throws: PluginDirectoryError.self) { try PluginDirectoryScan(directories: [directory.file(name)]) }
      #expect(error?.description.hasPrefix(directory.file(name)) == true)
      #expect(error?.observed.contains(text) == true)
    }
  }

  @Test("an empty directory offers nothing and refuses nothing")
  func empty() throws {
    let scan = try PluginDirectory().scan()
    #expect(scan.accepted.isEmpty && scan.refused.isEmpty)
  }
}
