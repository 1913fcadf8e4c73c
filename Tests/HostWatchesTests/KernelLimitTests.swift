import TestSupport
import Foundation
import Testing

/// Watches in a user namespace, whose limits and rights are less than those of the tests.
@Suite("Watches and the kernel's limits", .enabled(if: Program.status(["unshare", "-Ur", "true"]) == 0, "user namespaces are allowed"))
struct KernelLimitTests {
  let directory: TestDirectory

  init() throws { directory = try TestDirectory() }

  @Test("a path for which there is no watch left is a problem that says what to do, and the others are watched")
  func noWatchLeft() throws {
    try directory.write("file")
    try directory.make("folder")
    // As many as a path here needs.
    let depth = directory("file").split(separator: "/").count + 1
    let command = "echo \(depth) > /proc/sys/user/max_inotify_watches && exec \"$@\""
    let probe = try Probe(["files"], prefix: ["unshare", "-Ur", "sh", "-c", command, "sh"])
    #expect(try probe.ask("watch \(directory("file"))") == "")
    let problems = try probe.ask("watch \(directory("file")) \(directory("folder"))")
    #expect(problems.hasPrefix("[\(directory("folder")): "), "\(problems)")
    #expect(problems.contains("raise fs.inotify.max_user_watches"), "\(problems)")
    try directory.write("file", "more")
    try probe.expect("changed \(directory("file"))")
    // What the other path needed is free once it is left out, and nothing of it was kept.
    #expect(try probe.ask("watch \(directory("folder"))") == "")
    try directory.move("file", "folder/file")
    try probe.expect("changed \(directory("folder"))")
    #expect(try probe.finish() == 0)
  }

  @Test("what may not be read, or not be reached, is a problem that says so")
  func noPermission() throws {
    try directory.make("locked")
    try directory.write("locked/file")
    try directory.write("unreadable")
    try directory.write("readable")
    chmod(directory("locked"), 0)
    chmod(directory("unreadable"), 0)
    defer { chmod(directory("locked"), 0o700) }
    let probe = try Probe(["files"], prefix: ["unshare", "-U"])
    let problems = try probe.ask("watch \(directory("locked/file")) \(directory("unreadable")) \(directory("readable"))")
    #expect(problems.contains("[\(directory("locked/file")): "), "\(problems)")
    #expect(problems.contains("[\(directory("unreadable")): \(directory("unreadable")): it may not be read"), "\(problems)")
    #expect(!problems.contains("[\(directory("readable"))"), "\(problems)")
    chmod(directory("locked"), 0o755)
    chmod(directory("unreadable"), 0o644)
    #expect(try probe.ask("watch \(directory("locked/file")) \(directory("unreadable"))") == "")
    try directory.write("locked/file", "more")
    try probe.expect("changed \(directory("locked/file"))")
    #expect(try probe.finish() == 0)
  }
}
