import TestSupport
import Glibc
import TaskHostSDK
import Testing

@testable import Cleanup

@Suite("Sweep: stays where it belongs", .serialized) struct SafetyTests {
  private func sweep(_ resolution: PathResolution) -> Sweep {
    let sweep = Sweep()
    sweep.resolution = resolution
    return sweep
  }

  @Test("a symlink is neither followed nor removed", arguments: PathResolution.allCases)
  func symlinks(_ resolution: PathResolution) throws {
    let (tree, outside) = (try TestTree(), try TestTree())
    try outside.file("precious", age: 100)
    try outside.file("dir/precious", age: 100)
    try tree.symlink("file", to: outside.absolute("precious"))
    try tree.symlink("dir", to: outside.absolute("dir"))
    try tree.symlink("up", to: "..")
    try tree.file("old", age: 100)
    let report = try sweep(resolution).finish(.about(tree, "**/*", limits: .everything))
    #expect(tree.names() == ["dir", "file", "up"])
    #expect(outside.exists("precious") && outside.exists("dir/precious"))
    #expect(report.scanned == 1 && report.removed == 1)
  }

  @Test("only regular files are removed")
  func specialFiles() throws {
    let tree = try TestTree()
    #expect(mkfifo(tree.absolute("fifo"), 0o644) == 0)
    try tree.directory("directory")
    let report = try Sweep().finish(.about(tree, limits: .everything))
    #expect(tree.names() == ["directory", "fifo"])
    #expect(report.scanned == 0)
  }

  /// scan: sub/old is a file │ other process: sub becomes a symlink to another directory │ removal reaches for sub/old
  @Test("a directory replaced by a symlink after the scan leads nowhere", arguments: PathResolution.allCases)
  func directorySwapped(_ resolution: PathResolution) throws {
    let (tree, outside) = (try TestTree(), try TestTree())
    try tree.file("sub/old", age: 100)
    try outside.file("old", age: 100)
    let sweep = sweep(resolution)
    sweep.interleave = { point, _ in
      guard point == .chosen else { return }
      try? tree.move("sub", to: "moved")
      try? tree.symlink("sub", to: outside.path)
    }
    let report = try sweep.finish(.about(tree, "sub/*", limits: .everything))
    #expect(outside.exists("old") && tree.exists("moved/old"))
    #expect(report.removed == 0 && report.changed == 1)
  }

  /// scan: old is a file │ other process: old becomes a symlink, or another file, or was written to │ removal reaches for old
  @Test("a file replaced after the scan is left alone", arguments: PathResolution.allCases, [SweepPoint.chosen, .claimed])
  func fileSwapped(_ resolution: PathResolution, _ when: SweepPoint) throws {
    let (tree, outside) = (try TestTree(), try TestTree())
    try outside.file("precious", age: 100)
    for name in ["link", "other", "written"] { try tree.file(name, age: 100) }
    let sweep = sweep(resolution)
    sweep.interleave = { point, path in
      guard point == when else { return }
      switch path {
      case "link":
        unlink(tree.absolute(path))
        try? tree.symlink(path, to: outside.absolute("precious"))
      case "other":
        try? tree.file("new", age: 100)
        try? tree.move("new", to: path)
      default:
        let time = timespec(tv_sec: Int(TestTree.now - 1), tv_nsec: 0)
        utimensat(AT_FDCWD, tree.absolute(path), [time, time], 0)
      }
    }
    let report = try sweep.finish(.about(tree, limits: .everything))
    #expect(tree.names() == ["link", "other", "written"])
    #expect(outside.exists("precious"))
    #expect(report.removed == 0 && report.changed == 3)
  }

  @Test("a directory replaced by another one after the scan is left alone")
  func directoryReplaced() throws {
    let tree = try TestTree()
    try tree.file("sub/old", age: 100)
    let sweep = Sweep()
    sweep.interleave = { _, _ in
      try? tree.move("sub", to: "moved")
      try? tree.file("sub/old", age: 100)
    }
    #expect(try sweep.finish(.about(tree, "sub/*", limits: .everything)).changed == 1)
    #expect(tree.exists("sub/old") && tree.exists("moved/old"))
  }

  @Test("a file that is gone meanwhile is nobody's error")
  func vanished() throws {
    let tree = try TestTree()
    try tree.file("a", age: 100)
    let sweep = Sweep()
    sweep.interleave = { _, path in unlink(tree.absolute(path)) }
    let report = try sweep.finish(.about(tree, limits: .everything))
    #expect(!report.hadWork)
  }

  @Test("a symlink on the way to the directory blocks the rule", arguments: PathResolution.allCases)
  func rootThroughSymlink(_ resolution: PathResolution) throws {
    let tree = try TestTree()
    try tree.file("real/sub/old", age: 100)
    try tree.symlink("alias", to: "real")
    for path in ["alias", "alias/sub", "real/sub/old"] {
      var rule = try Rule.about(tree, limits: .everything)
      rule.directory = tree.absolute(path)
      let report = try sweep(resolution).finish(rule)
      #expect(report.status == .blocked && report.problem?.contains("symlink") == true)
    }
    #expect(tree.exists("real/sub/old"))
  }

  @Test(
    "another file system mounted below is not entered", .enabled(if: Command.canMount, "needs the right to mount"),
    arguments: PathResolution.allCases)
  func otherFileSystem(_ resolution: PathResolution) throws {
    let tree = try TestTree()
    try tree.directory("mounted")
    try #require(Command.run(["mount", "-t", "tmpfs", "none", tree.absolute("mounted")]) == 0)
    defer { #expect(Command.run(["umount", "-l", tree.absolute("mounted")]) == 0) }
    try tree.file("mounted/old", age: 100)
    try tree.file("old", age: 100)
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.removeEmptyDirectories = true
    let report = try sweep(resolution).finish(rule)
    #expect(tree.exists("mounted/old") && !tree.exists("old"))
    #expect(report.otherFileSystem == 1 && report.errors == 0)
  }

  @Test(
    "a bind mount of the same file system is not entered either", .enabled(if: Command.canMount, "needs the right to mount"),
    arguments: PathResolution.allCases)
  func bindMount(_ resolution: PathResolution) throws {
    let (tree, outside) = (try TestTree(), try TestTree())
    try outside.file("precious", age: 100)
    try tree.directory("mounted")
    try tree.file("single", age: 100)
    try #require(Command.run(["mount", "--bind", outside.path, tree.absolute("mounted")]) == 0)
    defer { #expect(Command.run(["umount", "-l", tree.absolute("mounted")]) == 0) }
    try #require(Command.run(["mount", "--bind", outside.absolute("precious"), tree.absolute("single")]) == 0)
    defer { #expect(Command.run(["umount", "-l", tree.absolute("single")]) == 0) }
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.removeEmptyDirectories = true
    let report = try sweep(resolution).finish(rule)
    #expect(outside.exists("precious"))
    #expect(report.otherFileSystem == 2 && report.removed == 0 && report.directoriesRemoved == 0)
  }

  @Test("a missing directory is reported, and the other rules are carried out")
  func missing() throws {
    let tree = try TestTree()
    try tree.file("here/old", age: 100)
    var (first, second) = (try Rule.about(tree, limits: .everything), try Rule.about(tree, limits: .everything))
    first.directory = tree.absolute("nowhere")
    second.directory = tree.absolute("here")
    guard case .finished(let report) = try Sweep().run([first, second]) else { throw TestFailure("stopped") }
    #expect(report.rules.map(\.status) == [.missing, .done])
    #expect(!tree.exists("here/old"))
  }

  @Test(
    "what may not be removed is counted and reported, and the rest goes",
    .enabled(if: Command.canMakeImmutable, "needs root and a file system with immutable files"))
  func immutable() throws {
    let tree = try TestTree()
    for name in ["a", "b", "c"] { try tree.file(name, age: 100) }
    try #require(Command.run(["chattr", "+i", tree.absolute("b")]) == 0)
    defer { _ = Command.run(["chattr", "-i", tree.absolute("b")]) }
    let report = try Sweep().finish(.about(tree, limits: .everything))
    #expect(tree.names() == ["b"])
    #expect(report.removed == 2 && report.errors == 1 && report.status == .done)
    #expect(report.messages == ["b: Operation not permitted"])
  }

  @Test(
    "directories that cannot be read or written are counted, and the rest goes",
    .enabled(if: geteuid() != 0, "root may read and write everything"))
  func unreadable() throws {
    let tree = try TestTree()
    for name in ["no-read/a", "no-write/b", "fine/c"] { try tree.file(name, age: 100) }
    chmod(tree.absolute("no-read"), 0o300)
    chmod(tree.absolute("no-write"), 0o500)
    defer { for name in ["no-read", "no-write"] { chmod(tree.absolute(name), 0o700) } }
    let report = try Sweep().finish(.about(tree, "**/*", limits: .everything))
    #expect(report.removed == 1 && report.errors == 2 && report.status == .done)
    #expect(report.messages.contains("no-read: cannot be searched: Permission denied"))
    #expect(report.messages.contains("no-write/b: Permission denied"))
  }

  @Test(
    "a file that may not be read is removed where its directory may be written", .enabled(if: geteuid() != 0, "root may read everything"))
  func unreadableFile() throws {
    let tree = try TestTree()
    try tree.file("secret", age: 100)
    chmod(tree.absolute("secret"), 0)
    #expect(try Sweep().finish(.about(tree, limits: .everything)).removed == 1)
  }

  /// scan: sub/old is a file │ other process: mounts another directory over sub │ removal reaches for sub/old
  @Test(
    "a directory that is mounted over after the scan is left alone", .enabled(if: Command.canMount, "needs the right to mount"),
    arguments: PathResolution.allCases)
  func mountedOver(_ resolution: PathResolution) throws {
    let (tree, outside) = (try TestTree(), try TestTree())
    try tree.file("sub/old", age: 100)
    try outside.file("old", age: 100)
    let sweep = sweep(resolution)
    var isMounted = false
    sweep.openFiles = { _, files in
      isMounted = Command.run(["mount", "--bind", outside.path, tree.absolute("sub")]) == 0
      return files.map { _ in .notOpen }
    }
    defer { if isMounted { #expect(Command.run(["umount", "-l", tree.absolute("sub")]) == 0) } }
    let report = try sweep.finish(.about(tree, "sub/*", limits: .everything))
    #expect(isMounted && outside.exists("old") && report.removed == 0)
  }

  @Test("directories that went make up for no file that could not be removed")
  func directoriesAreNoFiles() {
    var report = RuleReport(named: "rule")
    (report.scanned, report.removed, report.directoriesRemoved, report.errors) = (4, 1, 2, 3)
    #expect(report.isMostlyErrors)
    report.unremovedDirectories = 2
    #expect(!report.isMostlyErrors)
    report.unsearched = 1
    #expect(!report.isMostlyErrors)
    (report.errors, report.unsearched, report.unremovedDirectories) = (4, 0, 4)
    #expect(report.isMostlyErrors)
  }

  @Test("rules whose files mostly cannot be removed have failed, and say what was in the way")
  func mostlyErrors() throws {
    let tree = try TestTree()
    for name in ["a", "b", "c"] { try tree.file(name, age: 100) }
    var rule = try Rule.about(tree, limits: .everything)
    rule.dryRun = true  // takes no lease, so only the host could tell
    let report = try Sweep.knowingNothing().finish(rule)
    #expect(report.status == .failed && report.errors == 3)
    #expect(report.problem?.contains("cannot tell whether it is open") == true)
  }
}
