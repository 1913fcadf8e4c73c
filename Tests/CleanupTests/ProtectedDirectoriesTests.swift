import Testing

@testable import Cleanup

@Suite("Protected directories") struct ProtectedDirectoriesTests {
  private let protected = ProtectedDirectories(homes: ["/home/ada", "/srv/people/bob"])

  @Test(
    "refused",
    arguments: [
      "/", "//", "/etc", "/etc/", "/etc/app", "/usr", "/usr/lib/x", "/proc/1", "/sys", "/dev", "/boot/efi", "/var", "/var/lib", "/home",
      "/home/ada",
      "/home/somebody", "/root", "/srv/people/bob", "/srv/people", "/srv", "/usr/local", "relative", "", "/tmp/../etc", "/tmp/./x",
      "/tmp/..",
    ])
  func refused(_ path: String) {
    #expect(throws: Refusal.self) { try protected.check(path).get() }
  }

  @Test(
    "permitted, in its normal form",
    arguments: [
      ("/tmp", "/tmp"), ("/tmp//a/", "/tmp/a"), ("/var/log", "/var/log"), ("/var/lib/app/cache", "/var/lib/app/cache"),
      ("/home/ada/.cache", "/home/ada/.cache"),
      ("/dev/shm/x", "/dev/shm/x"), ("/usr/local/app/tmp", "/usr/local/app/tmp"), ("/etcetera", "/etcetera"), ("/tmp/..a", "/tmp/..a"),
    ])
  func permitted(_ written: String, _ path: String) throws {
    #expect(try protected.check(written).get() == path)
  }

  @Test("a protected directory is not cleaned up under another name either")
  func otherName() throws {
    let tree = try TestTree()
    try tree.file("precious", age: 100)
    let sweep = Sweep()
    sweep.protected = ProtectedDirectories(homes: [tree.path])
    let report = try sweep.finish(.about(tree, limits: .everything))
    #expect(report.status == .blocked)
    #expect(report.problem?.contains("under another name") == true)
    #expect(tree.exists("precious"))
  }
}
