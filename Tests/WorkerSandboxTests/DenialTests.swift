import Foundation
import Glibc
import TestSupport
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
        "denied: chmod \(file): no entitlement allows it by path: give the mode when the file is made, or use fchmod on the open file",
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

  @Test("binding a UDP socket is told as serving")
  func serving() throws {
    #expect(
      try Probe.run(["--network", "connect"], [("bind-udp", "5353")]).denials == [
        "denied: bind to port 5353: no entitlement allows a plugin to serve"
      ])
  }

  @Test("a folder that is read with scandir is told as one that is opened")
  func scandir() throws {
    let place = try Playground()
    let result = try Probe.run(["--data", place("own")], [("scan", place("other")), ("scan", place("own"))])
    #expect(result.answers == [EACCES, 0])
    #expect(result.denials == ["denied: open \(place("other")) for reading: add it to entitlements.read"])
  }

  @Test("a mode that no plugin may set is told as such")
  func modes() throws {
    let place = try Playground()
    let file = place("own/file")
    #expect(
      try Probe.run(["--data", place("own"), "--write", place("other")], [("widen", "\(file):0666")]).denials == [
        "denied: fchmod to 0666: no entitlement allows setuid, setgid, or writing by the group or others",
        "denied: chmod \(file): no entitlement allows it by path: give the mode when the file is made, or use fchmod on the open file",
      ])
  }

  @Test("nothing advises entitling what is the host's own, or a folder that it is in")
  func hostPaths() throws {
    let place = try Playground()
    let (file, answer) = (place("other/file"), "the host's own files are there: no entitlement allows it")
    let result = try Probe.run(
      ["--data", place("own"), "--host", place("other")],
      [
        ("read", file), ("list", place.path), ("write", place("own/sub/../../other/file")), ("unlink", file), ("mkdir", place("new")),
        ("rename", "\(file):\(place("own/moved"))"), ("truncate", file),
      ])
    #expect(
      result.denials == [
        "denied: open \(file) for reading: \(answer)",
        "denied: open \(place.path) for reading: \(answer)",
        "denied: open \(place("own/sub/../../other/file")) for writing: \(answer)",
        "denied: remove \(file): \(answer)",
        "denied: make the folder \(place("new")): \(answer)",
        "denied: move \(file) to \(place("own/moved")): \(answer)",
        "denied: truncate \(file): \(answer)",
      ])
  }

  @Test("nothing advises what a launch would refuse: through a link, around its own folder, or where the host only lets read")
  func refused() throws {
    let place = try Playground()
    for (link, target) in [("rest/up", place.path), ("rest/to", place("host/file"))] {
      try FileManager.default.createDirectory(atPath: place("rest"), withIntermediateDirectories: true)
      try FileManager.default.createDirectory(atPath: place("host/data"), withIntermediateDirectories: true)
      try FileManager.default.createSymbolicLink(atPath: place(link), withDestinationPath: target)
    }
    for file in ["host/file", "rest/file", "other/file"] { try Data("text".utf8).write(to: URL(filePath: place(file))) }
    let never = "the host's own files are there: no entitlement allows it"
    let reliedOn = "the host relies on what is there: no entitlement allows it"
    let result = try Probe.run(
      // As in a state directory: its own folder is in one of the host's.
      ["--data", place("host/data"), "--write", place("rest"), "--host", place("host"), "--plugins", place("other")],
      [
        ("read", place("rest/up/host/file")), ("read", place("rest/to")), ("list", place("rest/up")),
        ("unlink", place("rest/up/host/file")),
        ("rename", "\(place("host/file")):\(place("rest/file"))"), ("rename", "\(place("rest/file")):\(place("host/file"))"),
        ("rename", "\(place("rest/file")):\(place("rest/up/host/data/../file"))"),
        ("write", place("other/new")), ("write", place("other/file")), ("list", place("other")), ("read", place("other/file")),
      ])
    #expect(
      result.denials == [
        "denied: open \(place("rest/up/host/file")) for reading: \(never)",
        "denied: open \(place("rest/to")) for reading: \(never)",
        "denied: open \(place("rest/up")) for reading: \(never)",
        "denied: move \(place("host/file")) to \(place("rest/file")): \(never)",
        "denied: move \(place("rest/file")) to \(place("host/file")): \(never)",
        "denied: move \(place("rest/file")) to \(place("rest/up/host/data/../file")): \(never)",
        "denied: create \(place("other/new")): \(reliedOn)",
        "denied: open \(place("other/file")) for writing: \(reliedOn)",
        "denied: open \(place("other")) for reading: \(reliedOn)",
        "denied: open \(place("other/file")) for reading: add it to entitlements.read",
      ])
  }

  @Test("what libraries look into on their own account is denied without a word")
  func libraries() throws {
    let place = try Playground()
    let program = URL(filePath: try BuiltProgram.path("sandbox-probe")).resolvingSymlinksInPath().deletingLastPathComponent().path
    let result = try Probe.run(
      // As in a state directory: its own folder is in one of the host's.
      ["--data", place("own/sub"), "--host", place("own")],
      [
        ("read", "/proc/1/cmdline"), ("list", "/proc"), ("list", program), ("read", "\(program)/Info.plist"),
        ("list", place("own")), ("read", place("own/file")),
      ])
    #expect(result.answers == [EACCES, EACCES, EACCES, ENOENT, EACCES, EACCES])
    #expect(result.denials == ["denied: open \(place("own/file")) for reading: the host's own files are there: no entitlement allows it"])
  }

  @Test(
    "what TLS reads is denied without a word where there is no network: the connection is what is missing",
    .enabled(if: FileManager.default.fileExists(atPath: "/usr/lib/ssl/openssl.cnf")))
  func certificates() throws {
    let result = try Probe.run([], [("read", "/usr/lib/ssl/openssl.cnf"), ("list", "/etc/ssl/certs"), ("read", "/etc/hosts")])
    #expect(result.answers == [EACCES, EACCES, EACCES])
    #expect(result.denials == ["denied: open /etc/hosts for reading: add it to entitlements.read"])
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
