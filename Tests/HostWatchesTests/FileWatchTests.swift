import Foundation
import HostThreads
import HostWatches
import TaskModel
import Testing

@Suite("Watched files")
struct FileWatchTests {
  let directory: TestDirectory
  let told: Told

  init() throws {
    directory = try TestDirectory()
    told = try Told()
    try directory.write("~settle")
  }

  /// Watches these and the path by which ``Told/settle(_:_:)`` knows.
  private func watch(_ names: String...) {
    #expect(told.watches.watch(Set(names.map { directory($0) } + [directory("~settle")])) == [:])
  }

  @Test("a file that is created is told, and so is what is written to it")
  func created() throws {
    watch("file")
    try directory.write("file")
    told.expect(directory("file"))
    try directory.write("file", "more")
    told.expect(directory("file"))
  }

  @Test("reading, a change of permissions and what is written without closing are not told; closing is")
  func untold() throws {
    try directory.write("file")
    watch("file")
    let path = directory("file")
    _ = try String(contentsOfFile: path, encoding: .utf8)
    chmod(path, 0o600)
    let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
    try #require(file >= 0)
    _ = Glibc.write(file, "x", 1)
    #expect(try told.settle(directory) == [])
    close(file)
    told.expect(path)
  }

  @Test("a file that another is moved over goes on being watched")
  func movedOver() throws {
    try directory.write("file")
    watch("file")
    for round in 0..<3 {
      try directory.write("new", "\(round)")
      #expect(try told.settle(directory) == [], "beside it")
      try directory.move("new", "file")
      told.expect(directory("file"))
      try directory.write("file", "again")
      told.expect(directory("file"))
    }
  }

  @Test("a file that is deleted, created anew and moved away is told each time, also while somebody has it open")
  func deleted() throws {
    try directory.write("file")
    watch("file")
    for _ in 0..<3 {
      let file = open(directory("file"), O_RDONLY | O_CLOEXEC)
      defer { close(file) }
      try directory.remove("file")
      told.expect(directory("file"))
      try directory.write("file")
      told.expect(directory("file"))
      _ = try told.settle(directory)
    }
    try directory.move("file", "elsewhere")
    told.expect(directory("file"))
    try directory.write("elsewhere", "moved")
    #expect(try told.settle(directory) == [])
    try directory.move("elsewhere", "file")
    told.expect(directory("file"))
  }

  @Test(
    "what is undone before anybody looks is told, though a file may have the number of the one before", arguments: [false, true])
  func undone(isThere: Bool) throws {
    if isThere { try directory.write("file") }
    let (file, settled) = (directory("file"), directory("~settle"))
    let gate = Gate()
    let told = try Told { path in if path == settled { gate.wait() } }
    #expect(told.watches.watch([file, settled]) == [:])
    try directory.write("~settle")
    gate.arrived()
    if isThere { try directory.remove("file") }
    try directory.write("file")
    if !isThere { try directory.remove("file") }
    gate.open()
    told.expect(file)
  }

  @Test("a file whose directories are missing is told when it comes, and they are not")
  func deep() throws {
    watch("a/b/c/file")
    for name in ["a", "a/b", "a/b/c"] {
      try directory.make(name)
      #expect(try told.settle(directory) == [], "\(name)")
    }
    try directory.write("a/b/c/other")
    #expect(try told.settle(directory) == [])
    try directory.write("a/b/c/file")
    told.expect(directory("a/b/c/file"))
    _ = try told.settle(directory)
    try directory.move("a/b", "a/gone")
    told.expect(directory("a/b/c/file"))
    try directory.write("a/gone/c/file", "elsewhere")
    #expect(try told.settle(directory) == [])
    try directory.move("a/gone", "a/b")
    told.expect(directory("a/b/c/file"))
    try directory.write("a/b/c/file", "back")
    told.expect(directory("a/b/c/file"))
    try directory.remove("a")
    told.expect(directory("a/b/c/file"))
  }

  @Test("directories and a file that come one right after the other are told, however they race with the watches")
  func atOnce() throws {
    watch("a/b/c/file")
    for _ in 0..<300 {
      for name in ["a", "a/b", "a/b/c"] {
        try #require(mkdir(directory(name), 0o755) == 0)
        // About as long as the watches take to see it: the next one comes while they look.
        let end = SystemClock.now + .nanoseconds(.random(in: 0...100_000))
        while SystemClock.now < end {}
      }
      try directory.write("a/b/c/file")
      try #require(told.wait { $0.contains(directory("a/b/c/file")) })
      _ = try told.settle(directory)
      try directory.remove("a")
      try #require(told.wait { $0.contains(directory("a/b/c/file")) })
      _ = try told.settle(directory)
    }
  }

  @Test("a directory is told when entries come, are written, move and go, but not for what lies deeper")
  func entries() throws {
    try directory.make("folder/deeper")
    watch("folder")
    let path = directory("folder")
    try directory.write("folder/deeper/file")
    chmod(directory("folder/deeper"), 0o700)
    #expect(try told.settle(directory) == [])
    try directory.write("folder/entry")
    told.expect(path)
    _ = try told.settle(directory)
    try directory.write("folder/entry", "more")
    told.expect(path)
    try directory.move("folder/entry", "outside")
    told.expect(path)
    try directory.move("outside", "folder/entry")
    told.expect(path)
    try directory.remove("folder/entry")
    told.expect(path)
    try directory.remove("folder")
    told.expect(path)
    _ = try told.settle(directory)
    try directory.make("folder")
    told.expect(path)
    try directory.write("folder/entry")
    told.expect(path)
  }

  @Test("a directory that somebody works in is told when it is removed and made anew", arguments: [false, true])
  func heldDirectory(isTarget: Bool) throws {
    try directory.make("folder")
    watch(isTarget ? "folder" : "folder/file")
    let path = directory(isTarget ? "folder" : "folder/file")
    let held = open(directory("folder"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(held) }
    try #require(rmdir(directory("folder")) == 0)
    if isTarget { told.expect(path) } else { #expect(try told.settle(directory) == []) }
    try directory.make("folder")
    try directory.write("folder/file")
    told.expect(path)
    _ = try told.settle(directory)
    try directory.write("folder/file", "again")
    told.expect(path)
  }

  @Test("a file where a directory should be is not an obstacle once it is one")
  func obstacle() throws {
    try directory.write("a")
    watch("a/file")
    try directory.write("a", "still a file")
    #expect(try told.settle(directory) == [])
    // Somebody has it open: it does not tell its own end.
    let held = open(directory("a"), O_RDONLY | O_CLOEXEC)
    defer { close(held) }
    try directory.remove("a")
    try directory.make("a")
    try directory.write("a/file")
    told.expect(directory("a/file"))
  }

  @Test("paths that have been left out are told no more, the others are")
  func replacedSet() throws {
    try directory.write("one")
    try directory.write("two")
    watch("one", "two")
    watch("two", "three")
    try directory.write("one", "unwatched")
    try directory.write("two", "watched")
    try directory.write("three")
    #expect(Set(try told.settle(directory)) == [directory("two"), directory("three")])
    watch()
    try directory.write("two", "unwatched")
    #expect(try told.settle(directory) == [])
  }

  @Test("files that are one file are each told")
  func hardLinks() throws {
    try directory.write("one")
    try #require(link(directory("one"), directory("two")) == 0)
    watch("one", "two")
    try directory.write("one", "both")
    #expect(Set(try told.settle(directory)) == [directory("one"), directory("two")])
    try directory.remove("one")
    #expect(try told.settle(directory) == [directory("one")])
    try directory.write("two", "alone")
    #expect(try told.settle(directory) == [directory("two")])
  }

  @Test("a thousand files that are written at once are all told, each once for what comes at once")
  func burst() throws {
    let names = (0..<1000).map { "file\($0)" }
    for name in names { try directory.write(name) }
    #expect(told.watches.watch(Set(names.map { directory($0) })) == [:])
    for name in names { try directory.write(name, "more") }
    let all = Set(names.map { directory($0) })
    #expect(told.wait { Set($0) == all }, "\(1000 - Set(told.take()).count) were not told")
  }

  @Test("a thousand entries of a directory are told in far fewer calls")
  func coalesced() throws {
    try directory.make("folder")
    let (folder, settled) = (directory("folder"), directory("~settle"))
    let gate = Gate()
    let told = try Told { path in if path == settled { gate.wait() } }
    #expect(told.watches.watch([folder, settled]) == [:])
    try directory.write("~settle")
    gate.arrived()
    // The watches' thread is in a call now: all of this comes meanwhile.
    for index in 0..<1000 { try directory.write("folder/\(index)") }
    gate.open()
    // What was told first was told by the gate.
    #expect(told.wait { $0.contains(folder) && $0.contains(settled) })
    let calls = told.take() + (try told.settle(directory))
    #expect(calls.count { $0 == folder } <= 10, "three thousand events")
  }
}
