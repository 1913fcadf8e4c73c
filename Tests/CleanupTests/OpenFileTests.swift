import TestSupport
import Glibc
import TaskHostSDK
import Testing

@testable import Cleanup

@Suite("Sweep: files in use", .serialized) struct OpenFileTests {
  /// Runs `body` while the file is open with `flags`.
  private func whileOpen<Result>(_ path: String, _ flags: Int32, _ body: (Int32) throws -> Result) throws -> Result {
    let descriptor = open(path, flags | O_CLOEXEC)
    guard descriptor >= 0 else { throw TestFailure("open \(path): \(errno)") }
    defer { close(descriptor) }
    return try body(descriptor)
  }

  @Test("an open file is kept, does not count, and goes once closed", arguments: [O_RDONLY, O_WRONLY, O_RDWR])
  func openFile(_ flags: Int32) throws {
    let tree = try TestTree()
    for (name, age) in [("a", 30), ("b", 20), ("c", 10)] as [(String, Int64)] { try tree.file(name, age: age) }
    let rule = try Rule.about(tree, limits: Limits(maxCount: 2))
    let report = try whileOpen(tree.absolute("a"), flags) { _ in try Sweep.askingHost().finish(rule) }
    #expect(tree.names() == ["a", "b", "c"])
    #expect(report.keptOpen == 1 && report.removed == 0)
    #expect(try Sweep.askingHost().finish(rule).removed == 1)
    #expect(tree.names() == ["b", "c"])
  }

  @Test("a file open in a process that cannot be seen is kept: the kernel grants no lease", arguments: [O_RDONLY, O_WRONLY])
  func lease(_ flags: Int32) throws {
    let tree = try TestTree()
    try tree.file("a", age: 30)
    let report = try whileOpen(tree.absolute("a"), flags) { _ in
      try Sweep.knowingNothing().finish(.about(tree, limits: .everything))
    }
    #expect(report.keptOpen == 1 && tree.exists("a"))
  }

  @Test("a file that is only mapped is kept")
  func mapped() throws {
    let tree = try TestTree()
    try tree.file("a", age: 30, bytes: 4096)
    let memory = try whileOpen(tree.absolute("a"), O_RDONLY) { mmap(nil, 4096, PROT_READ, MAP_PRIVATE, $0, 0) }
    #expect(memory != MAP_FAILED)
    #expect(try Sweep.askingHost().finish(.about(tree, limits: .everything)).keptOpen == 1)
    munmap(memory, 4096)
    #expect(try Sweep.askingHost().finish(.about(tree, limits: .everything)).removed == 1)
  }

  @Test("a file opened after the host has looked is kept where leases are granted")
  func openedLate() throws {
    let tree = try TestTree()
    try tree.file("a", age: 30)
    let sweep = Sweep.askingHost()
    var descriptor: Int32 = -1
    sweep.interleave = { point, path in if point == .chosen { descriptor = open(tree.absolute(path), O_RDONLY | O_CLOEXEC) } }
    #expect(try sweep.finish(.about(tree, limits: .everything)).keptOpen == 1)
    close(descriptor)
  }

  @Test("a file open in another process is kept")
  func otherProcess() throws {
    let tree = try TestTree()
    try tree.file("a", age: 30)
    // `cat` says back what it is told, then it is surely running; it ends when its input is closed. The file is its descriptor 5.
    var (input, output): ([Int32], [Int32]) = ([0, 0], [0, 0])
    let child = Command.exclusively {
      guard pipe(&input) == 0, pipe(&output) == 0 else { return pid_t(-1) }
      for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
      var actions = posix_spawn_file_actions_t()
      posix_spawn_file_actions_init(&actions)
      posix_spawn_file_actions_adddup2(&actions, input[0], 0)
      posix_spawn_file_actions_adddup2(&actions, output[1], 1)
      posix_spawn_file_actions_addopen(&actions, 5, tree.absolute("a"), O_RDONLY, 0)
      let arguments = [strdup("cat"), nil]
      var child = pid_t(-1)
      posix_spawnp(&child, "cat", &actions, nil, arguments, environ)
      arguments.forEach { free($0) }
      posix_spawn_file_actions_destroy(&actions)
      var byte: UInt8 = 0x78
      if child > 0, write(input[1], &byte, 1) == 1 { _ = read(output[0], &byte, 1) }
      return child
    }
    try #require(child > 0)
    let report = try Sweep.askingHost().finish(.about(tree, limits: .everything))
    (input + output).forEach { close($0) }
    var status: Int32 = 0
    waitpid(child, &status, 0)
    #expect(report.keptOpen == 1 && tree.exists("a"))
    #expect(try Sweep.askingHost().finish(.about(tree, limits: .everything)).removed == 1)
  }

  @Test("a dry run sees open files as well")
  func dryRun() throws {
    let tree = try TestTree()
    try tree.file("a", age: 30)
    var rule = try Rule.about(tree, limits: .everything)
    rule.dryRun = true
    #expect(try whileOpen(tree.absolute("a"), O_RDONLY) { _ in try Sweep.askingHost().finish(rule) }.keptOpen == 1)
    #expect(try Sweep.askingHost().finish(rule).removed == 1)
  }

  @Test("without any means to tell, the file is left alone")
  func unknowable() throws {
    let tree = try TestTree()
    try tree.file("a", age: 30)
    var rule = try Rule.about(tree, limits: .everything)
    rule.dryRun = true  // takes no lease, so /proc alone can tell
    let report = try Sweep.knowingNothing().finish(rule)
    #expect(report.removed == 0 && report.errors == 1 && report.status == .failed)
    #expect(report.messages.first?.contains("cannot tell whether it is open") == true)
  }

  @Test("what is known to be open or locked is kept even where the rule removes what nobody can tell")
  func unsureButLocked() throws {
    let tree = try TestTree()
    for name in ["a", "b"] { try tree.file(name, age: 30) }
    var rule = try Rule.about(tree, limits: .everything)
    rule.removesUnsure = true
    let report = try whileOpen(tree.absolute("a"), O_RDONLY) { descriptor in
      #expect(flock(descriptor, LOCK_SH) == 0)
      return try Sweep.knowingNothing().finish(rule)
    }
    #expect(report.keptOpen == 1 && report.removed == 1 && tree.names() == ["a"])
  }

  @Test("each file is asked about twice at most, however late the answers come")
  func slowHost() throws {
    let tree = try TestTree()
    for index in 0..<2_000 { try tree.file("f\(index)", age: 30) }
    let sweep = Sweep()
    var asked = 0
    sweep.openFiles = { _, files in
      asked += files.count
      // A look at a machine that is too busy: its answers are old when they come.
      let end = ContinuousClock.now + .milliseconds(1_100)
      while ContinuousClock.now < end { usleep(10_000) }
      return files.map { _ in .notOpen }
    }
    #expect(try sweep.finish(.about(tree, limits: .everything)).removed == 2_000)
    #expect(asked <= 4_000)
  }

  @Test("when an answer has grown old, the next files are asked about again, not all that are left")
  func staleAnswer() throws {
    let tree = try TestTree()
    for index in 0..<3_000 { try tree.file("f\(index)", age: 30) }
    let sweep = Sweep()
    var questions: [Int] = []
    sweep.openFiles = { _, files in
      questions.append(files.count)
      return files.map { _ in .notOpen }
    }
    var isFirst = true
    sweep.interleave = { _, _ in
      guard isFirst else { return }
      isFirst = false
      let end = ContinuousClock.now + .milliseconds(1_100)
      while ContinuousClock.now < end { usleep(10_000) }
    }
    #expect(try sweep.finish(.about(tree, limits: .everything)).removed == 3_000)
    #expect(questions.first == 3_000 && questions.count >= 2)
    #expect(questions.count > 1 && questions[1] < 1_000 && questions.reduce(0, +) <= 6_000, "\(questions)")
  }

  @Test("a directory that a process is in is not removed")
  func workingDirectory() throws {
    let tree = try TestTree()
    try tree.directory("empty")
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.removeEmptyDirectories = true
    let descriptor = open(tree.absolute("empty"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    #expect(try Sweep.askingHost().finish(rule).directoriesRemoved == 0)
    close(descriptor)
    #expect(try Sweep.askingHost().finish(rule).directoriesRemoved == 1)
  }

  @Test("directories that the sweep itself had open when it asked again are not taken for ones in use")
  func ownDirectories() throws {
    let tree = try TestTree()
    try tree.file("a/b/c/old", age: 30)
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.removeEmptyDirectories = true
    let sweep = Sweep.askingHost()
    sweep.interleave = { point, _ in
      guard point == .claimed else { return }
      let end = ContinuousClock.now + .milliseconds(1_100)
      while ContinuousClock.now < end { usleep(10_000) }
    }
    let report = try sweep.finish(rule)
    #expect(report.removed == 1 && report.directoriesRemoved == 3, "\(report)")
  }
}
