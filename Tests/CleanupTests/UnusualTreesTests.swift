import TestSupport
import Glibc
import TaskHostSDK
import Testing

@testable import Cleanup

@Suite("Sweep: unusual trees") struct UnusualTreesTests {
  @Test("names with newlines, backslashes and bytes that are no UTF-8")
  func names() throws {
    let tree = try TestTree()
    let names: [[UInt8]] = [
      Array("new\nline".utf8), [0xFF, 0xFE, 0x80], Array("back\\slash".utf8), Array(" ".utf8), Array("*".utf8), Array("-rf".utf8),
      [UInt8](repeating: 0x61, count: 255), Array("ä€😀".utf8),
    ]
    for name in names { try tree.file(name, age: 10) }
    let report = try Sweep().finish(.about(tree, limits: .everything))
    #expect(tree.names().isEmpty)
    #expect(report.removed == UInt64(names.count))
  }

  @Test(
    "such names are shown in one line",
    arguments: [([0x61, 0x0A], "a\\x0a"), ([0xFF, 0x61], "\\xffa"), ([0xC3, 0xA4], "ä"), ([0x5C], "\\x5c")] as [([UInt8], String)])
  func display(_ name: [UInt8], _ shown: String) {
    #expect(DisplayName.escaped(name) == shown)
  }

  @Test(
    "10,000 directories deep, longer than any path may be, in time that does not grow with the square of it", .timeLimit(.minutes(3)),
    arguments: [(PathResolution.kernel, 10_000), (.stepwise, 10_000)])
  func deep(_ resolution: PathResolution, _ depth: Int) throws {
    let tree = try TestTree()
    var descriptor = open(tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    for _ in 0..<depth {
      #expect(mkdirat(descriptor, "directory", 0o755) == 0)
      let next = openat(descriptor, "directory", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      close(descriptor)
      descriptor = next
    }
    let file = openat(descriptor, "leaf", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    let time = timespec(tv_sec: Int(TestTree.now - 100), tv_nsec: 0)
    #expect(futimens(file, [time, time]) == 0)
    close(file)
    close(descriptor)
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.removeEmptyDirectories = true
    let sweep = Sweep()
    sweep.resolution = resolution
    let report = try sweep.finish(rule)
    #expect(report.removed == 1 && report.directoriesRemoved == UInt64(depth) && report.errors == 0)
    #expect(tree.names().isEmpty)
  }

  @Test(
    "directories that wait deep down on both sides of the way are all searched, and what is empty goes", arguments: PathResolution.allCases)
  func deepBranches(_ resolution: PathResolution) throws {
    let tree = try TestTree()
    var path = ""
    for level in 0..<60 {
      for side in ["a", "z"] { try tree.file(path + side + "/old", age: 100) }
      path += "level\(level)/"
    }
    try tree.file(path + "old", age: 100)
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.removeEmptyDirectories = true
    let sweep = Sweep()
    sweep.resolution = resolution
    let report = try sweep.finish(rule)
    #expect(report.removed == 121 && report.directoriesRemoved == 180 && report.errors == 0)
    #expect(tree.names().isEmpty)
  }

  @Test("a file whose path is too long for the host's question is the only one about which nothing is known")
  func unaskable() throws {
    let tree = try TestTree()
    try tree.file("old", age: 100)
    var directory = open(tree.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    let name = String(repeating: "d", count: 250)
    for _ in 0..<17 {
      #expect(mkdirat(directory, name, 0o755) == 0)
      let next = openat(directory, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      close(directory)
      directory = next
    }
    let file = openat(directory, "deep", O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    let time = timespec(tv_sec: Int(TestTree.now - 100), tv_nsec: 0)
    #expect(futimens(file, [time, time]) == 0)
    close(file)
    close(directory)
    var rule = try Rule.about(tree, "**/*", limits: .everything)
    rule.dryRun = true  // takes no lease
    let sweep = Sweep()
    var longest = 0
    sweep.openFiles = { _, files in
      longest = max(longest, files.map(\.path.count).max() ?? 0)
      return files.map { _ in .notOpen }
    }
    let report = try sweep.finish(rule)
    #expect(report.removed == 1 && report.errors == 1 && longest < 4_096)
    #expect(report.messages.first?.contains("cannot tell whether it is open") == true)
  }

  @Test("a survey of three million files takes no more memory than one of a million")
  func memory() throws {
    // Other tests run meanwhile in this process, and take memory of their own: the least of a few measurements is the survey's.
    let taken = try (0..<3).map { _ in try Self.bytesOfSurvey() }
    #expect(taken.contains { $0 < 100_000_000 }, "a million records and 65,536 spans take about 50 MB, not \(taken)")
  }

  private static func bytesOfSurvey() throws -> Int {
    let before = try residentBytes()
    var most = 0
    var survey = Survey(limits: Limits(maxCount: 10), now: .max)
    var passes = 0
    repeat {
      passes += 1
      for index in 0..<3_000_000 {
        survey.add(time: Int64((index * 7_919) % 3_000_017), inode: UInt64(index), size: 0, hasOtherLinks: false)
        if index % 250_000 == 0 { most = max(most, try residentBytes() - before) }
      }
    } while !survey.endPass()
    #expect(survey.planned == 2_999_990 && passes <= 6)
    return most
  }

  private static func residentBytes() throws -> Int {
    guard let file = fopen("/proc/self/statm", "r") else { throw TestFailure("no /proc/self/statm") }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 256)
    guard fgets(&line, 256, file) != nil else { throw TestFailure("nothing in /proc/self/statm") }
    let fields = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self).split(separator: " ")
    guard fields.count > 1, let pages = Int(fields[1]) else { throw TestFailure("no number in /proc/self/statm") }
    return pages * sysconf(Int32(_SC_PAGESIZE))
  }
}
