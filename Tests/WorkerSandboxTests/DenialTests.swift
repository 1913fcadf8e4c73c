import Foundation
import Glibc
import Testing

/// What a plugin's author reads. The actions are those of a library that the probe loaded: its calls are seen too.
@Suite("Denials", .enabled(if: Kernel.landlockABI >= 4)) struct DenialTests {
  @Test("a denied file names the entitlement")
  func files() throws {
    let place = try Playground()
    let file = place("other/file")
    let result = try Probe.run(
      ["--data", place("own")],
      [
        ("read", file), ("read-stream", file), ("list", place("other")), ("write", file), ("write", place("other/new")),
        ("mkdir", place("other/folder")), ("unlink", file), ("rename", "\(file):\(place("own/moved"))"), ("truncate", file),
        ("chmod", file), ("chown", file),
      ])
    #expect(
      result.denials == [
        "denied: open \(file) for reading: add it to entitlements.read",
        "denied: open \(place("other")) for reading: add it to entitlements.read",
        "denied: open \(file) for writing: add it to entitlements.write",
        "denied: create \(place("other/new")): add its folder to entitlements.write",
        "denied: make the folder \(place("other/folder")): add its folder to entitlements.write",
        "denied: remove \(file): add its folder to entitlements.write",
        "denied: move \(file) to \(place("own/moved")): add the folders of both to entitlements.write",
        "denied: truncate \(file): add it to entitlements.write",
        "denied: chmod \(file): add its folder to entitlements.write, or use fchmod on the open file",
        "denied: chown \(file): no entitlement allows it",
      ])
  }

  @Test("a denied connection names the entitlement")
  func network() throws {
    let without = try Probe.run([], [("socket", "2:1:0"), ("socket", "10:2:0"), ("socket", "1:1:0"), ("socket", "17:3:0")])
    #expect(
      without.denials == [
        "denied: a TCP socket: set entitlements.network = \"connect\", or list the ports",
        "denied: a UDP socket: set entitlements.network = \"connect\"",
        "denied: a Unix socket: no entitlement allows it",
        "denied: a socket of family 17: no entitlement allows it",
      ])
    let ports = try Probe.run(["--network", "443"], [("connect", "444"), ("socket", "2:2:0"), ("bind", "8080"), ("listen", "0")])
    #expect(
      ports.denials == [
        "denied: connect to port 444: add it to the list in entitlements.network, or set that to \"connect\"",
        "denied: a UDP socket: set entitlements.network = \"connect\"",
        "denied: bind to port 8080: no entitlement allows a plugin to serve",
        "denied: listen: no entitlement allows a plugin to serve",
      ])
  }

  @Test("a denied process names the entitlement")
  func processes() throws {
    let result = try Probe.run(
      [],
      [("fork", ""), ("execve", "/bin/true"), ("spawn", "/bin/true"), ("system", "true"), ("kill", "1"), ("ptrace", "")])
    #expect(
      result.denials == [
        "denied: fork: set entitlements.exec = true",
        "denied: start /bin/true: set entitlements.exec = true",
        "denied: system: set entitlements.exec = true",
        "denied: a signal to process 1: no entitlement allows it",
        "denied: ptrace: no entitlement allows it",
      ])
    let place = try Playground()
    let program = place("own/program")
    try FileManager.default.copyItem(atPath: "/bin/true", toPath: program)
    #expect(
      try Probe.run(["--exec", "true", "--data", place("own")], [("spawn", program)]).denials == [
        "denied: start \(program): entitlements.exec is for programs in the system's folders"
      ])
  }

  @Test("what failed for another reason is not called a denial")
  func otherFailures() throws {
    let place = try Playground()
    chmod(place("own/file"), 0)
    let result = try Probe.run(
      ["--data", place("own"), "--network", "connect"],
      [("read", place("own/file")), ("read", place("other/absent")), ("write", place("absent/file")), ("connect", "1"), ("kill-self", "")])
    #expect(result.answers == [EACCES, ENOENT, ENOENT, ECONNREFUSED, 0])
    #expect(result.denials == [])
  }

  @Test("a sentence comes once, and no more than 64 come at all")
  func flood() throws {
    let place = try Playground()
    let result = try Probe.run([], (0..<200).map { ("write", place("other/new\($0 / 2)")) })
    #expect(result.answers == Array(repeating: EACCES, count: 200))
    #expect(result.denials == (0..<64).map { "denied: create \(place("other/new\($0)")): add its folder to entitlements.write" })
  }
}
