import Glibc
import TaskHostSDK
import Testing

@testable import Cleanup

@Suite("Sweep: limits") struct LimitsTests {
  @Test("age, on real files; only those directly in the directory")
  func age() throws {
    let tree = try TestTree()
    try tree.file("old.log", age: 100, bytes: 7)
    try tree.file("new.log", age: 5)
    try tree.file("old.txt", age: 100)
    try tree.file("below/old.log", age: 100)
    let sweep = Sweep()
    let report = try sweep.finish(.about(tree, "*.log", limits: Limits(maxAge: .seconds(50))))
    #expect(tree.names() == ["below", "new.log", "old.txt"])
    #expect(tree.exists("below/old.log"))
    #expect(report.scanned == 3 && report.matched == 2 && report.removed == 1 && report.bytesRemoved == 7 && report.errors == 0)
    #expect(report.status == .done)
  }

  @Test("bytes, count, keep-newest and the guard together, at every depth")
  func together() throws {
    let tree = try TestTree()
    for index in 1...10 { try tree.file("d\(index % 3)/f\(index)", age: Int64(index) * 10, bytes: 100) }
    // 1000 bytes: down to 350 takes the seven oldest, but the five newest stay.
    let report = try Sweep().finish(.about(tree, "**/f*", limits: Limits(maxTotalBytes: 350, maxCount: 9, keepNewest: 5)))
    #expect(report.removed == 5 && report.bytesRemoved == 500)
    #expect((1...10).filter { tree.exists("d\($0 % 3)/f\($0)") } == [1, 2, 3, 4, 5])
  }

  @Test("what is excluded is not seen, neither a file nor everything in a directory")
  func exclusions() throws {
    let tree = try TestTree()
    for name in ["a.log", "keep.log", "audit/b.log", "audit/deep/c.log", "x/audit/d.log", "x/y.log"] { try tree.file(name, age: 10) }
    let report = try Sweep().finish(.about(tree, "**/*.log", exclude: ["keep.*", "audit/**"], limits: Limits(maxCount: 0)))
    #expect(["keep.log", "audit/b.log", "audit/deep/c.log"].allSatisfy { tree.exists($0) })
    #expect(["a.log", "x/audit/d.log", "x/y.log"].allSatisfy { !tree.exists($0) })
    #expect(report.matched == 3 && report.removed == 3)
  }

  @Test("a recursive rule with a plain name pattern is about every directory")
  func recursiveName() throws {
    let tree = try TestTree()
    try tree.file("a/b/x.tmp", age: 10)
    try tree.file("x.tmp", age: 10)
    #expect(try Sweep().finish(.about(tree, "*.tmp", recursive: true, limits: .everything)).removed == 2)
  }

  @Test("hard links count once; their bytes come back with the last name anywhere")
  func hardLinks() throws {
    let tree = try TestTree()
    try tree.file("in/a", age: 30, bytes: 100)
    try tree.hardLink("in/b", to: "in/a")
    try tree.file("in/c", age: 20, bytes: 100)
    try tree.hardLink("outside", to: "in/c")
    try tree.file("in/d", age: 10, bytes: 100)
    // 300 bytes in four names: at most 250 takes both names of the first.
    let report = try Sweep().finish(.about(tree, "in/*", limits: Limits(maxTotalBytes: 250)))
    #expect(tree.names("in") == ["c", "d"])
    #expect(report.removed == 2 && report.bytesRemoved == 100)
    let second = try Sweep().finish(.about(tree, "in/*", limits: Limits(maxTotalBytes: 150)))
    #expect(tree.names("in") == ["d"] && tree.exists("outside"))
    #expect(second.removed == 1 && second.bytesRemoved == 0)
  }

  @Test("a dry run counts the same and changes nothing")
  func dryRun() throws {
    let tree = try TestTree()
    for index in 1...5 { try tree.file("d\(index)/f", age: Int64(index) * 10, bytes: 10) }
    var rule = try Rule.about(tree, "**/*", limits: Limits(maxCount: 2))
    rule.removeEmptyDirectories = true
    rule.dryRun = true
    let dry = try Sweep().finish(rule)
    #expect((1...5).allSatisfy { tree.exists("d\($0)/f") })
    rule.dryRun = false
    var real = try Sweep().finish(rule)
    #expect((1...5).filter { tree.exists("d\($0)") } == [1, 2])
    real.dryRun = true
    #expect(dry == real)
    #expect(dry.removed == 3 && dry.bytesRemoved == 30 && dry.directoriesRemoved == 3)
  }

  @Test("empty directories go from the deepest up, the rule's own stays, and one with anything in it too")
  func emptyDirectories() throws {
    let tree = try TestTree()
    try tree.file("a/b/c/old", age: 100)
    try tree.directory("was/empty")
    try tree.file("full/old", age: 100)
    try tree.symlink("full/link", to: "nowhere")
    try tree.file("kept/new", age: 1)
    var rule = try Rule.about(tree, "**/*", exclude: ["secret"], limits: Limits(maxAge: .seconds(50)))
    rule.removeEmptyDirectories = true
    try tree.directory("secret")
    let report = try Sweep().finish(rule)
    #expect(tree.names() == ["full", "kept", "secret"])
    #expect(report.directoriesRemoved == 5)
  }

  @Test("nothing to do is told apart from something")
  func hadWork() throws {
    let tree = try TestTree()
    try tree.file("a", age: 10)
    #expect(try !Sweep().finish(.about(tree, limits: Limits(maxCount: 1))).hadWork)
    #expect(try Sweep().finish(.about(tree, limits: Limits(maxCount: 0))).hadWork)
  }

  @Test("under a cap, a file that is open does not make others go in vain", arguments: [false, true])
  func openUnderCap(_ isDryRun: Bool) throws {
    let tree = try TestTree()
    try tree.file("active", age: 1, bytes: 5_000)
    for index in 2...9 { try tree.file("old\(index)", age: Int64(index), bytes: 100) }
    var rule = try Rule.about(tree, limits: Limits(maxTotalBytes: 500))
    rule.dryRun = isDryRun
    let sweep = Sweep()
    sweep.openFiles = { _, files in files.map { $0.path == Array("active".utf8) ? .open : .notOpen } }
    let report = try sweep.finish(rule)
    // Of 800 bytes that can go, 500 may stay.
    #expect(report.keptOpen == 1 && report.removed == 3 && report.bytesRemoved == 300)
    #expect(tree.exists("active") && (2...6).allSatisfy { tree.exists("old\($0)") })
    #expect((7...9).allSatisfy { tree.exists("old\($0)") == isDryRun })
  }

  @Test(
    "under a cap, a file that nobody may remove does not make others go in vain",
    .enabled(if: Command.canMakeImmutable, "needs root and a file system with immutable files"))
  func immutableUnderCap() throws {
    let tree = try TestTree()
    try tree.file("fixed", age: 100, bytes: 5_000)
    for index in 1...4 { try tree.file("f\(index)", age: Int64(index), bytes: 100) }
    try #require(Command.run(["chattr", "+i", tree.absolute("fixed")]) == 0)
    defer { _ = Command.run(["chattr", "-i", tree.absolute("fixed")]) }
    let report = try Sweep().finish(.about(tree, limits: Limits(maxTotalBytes: 400)))
    #expect(tree.names() == ["f1", "f2", "f3", "f4", "fixed"] && report.removed == 0)
    let next = try Sweep().finish(.about(tree, limits: Limits(maxTotalBytes: 5_200)))
    #expect(next.errors == 1 && next.removed == 0 && next.status == .failed)
  }

  @Test("with room for a few files only, the same go as with room for all", arguments: [1, 7, 1_000])
  func littleMemory(_ capacity: Int) throws {
    let tree = try TestTree()
    for index in 1...60 { try tree.file("d\(index % 7)/f\(index)", age: Int64(index % 13), bytes: index) }
    let sweep = Sweep()
    sweep.surveyCapacity = capacity
    let report = try sweep.finish(.about(tree, "**/*", limits: Limits(maxCount: 25, keepNewest: 3)))
    #expect(report.removed == 35 && report.scanned == 60 && report.matched == 60)
    let left = (1...60).filter { tree.exists("d\($0 % 7)/f\($0)") }
    #expect(left.count == 25 && left.map { $0 % 13 }.max() == 5)
  }

  @Test("more directories side by side than are kept at a time, and all of them empty in the end")
  func manyDirectories() throws {
    let tree = try TestTree()
    for index in 0..<2_500 { try tree.file("d\(index)/f", age: 10) }
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.removeEmptyDirectories = true
    let report = try Sweep().finish(rule)
    #expect(report.removed == 2_500 && report.directoriesRemoved == 2_500 && tree.names().isEmpty)
  }

  @Test("a file is as old as the youngest of the times that its rule names")
  func ageBy() throws {
    let tree = try TestTree()
    try tree.file("read", age: 100)
    let (read, written) = (timespec(tv_sec: Int(TestTree.now - 5), tv_nsec: 0), timespec(tv_sec: Int(TestTree.now - 100), tv_nsec: 0))
    #expect(utimensat(AT_FDCWD, tree.absolute("read"), [read, written], 0) == 0)
    var rule = try Rule.about(tree, limits: Limits(maxAge: .seconds(50)))
    #expect(try Sweep().finish(rule).removed == 0)
    rule.ageBy = [.accessed]
    #expect(try Sweep().finish(rule).removed == 0)
    rule.ageBy = [.modified]
    #expect(try Sweep().finish(rule).removed == 1)
  }

  @Test("without a choice, a file that was made, moved or read lately is young however old its contents are")
  func ageByAll() throws {
    let tree = try TestTree()
    try tree.file("restored", age: TestTree.now - 1_000)
    var rule = try Rule.about(tree, limits: Limits(maxAge: .seconds(3_600)))
    let sweep = Sweep()
    sweep.now = Int64(time(nil)) * 1_000_000_000
    #expect(try sweep.finish(rule).removed == 0)
    rule.ageBy = [.modified]
    #expect(try sweep.finish(rule).removed == 1)
  }
}
