import Foundation
import Glibc
import TestSupport
import Testing

/// What ends other programs without a word does not end the host.
@Suite("Signals, limits and a socket that is removed", .timeLimit(.minutes(10)))
struct HostSurvivalTests {
  @Test(
    "a signal that means nothing to a host changes nothing", arguments: [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGPOLL, SIGPWR])
  func idle(_ number: Int32) async throws {
    try await HostProcess.run { host in
      host.signal(number)
      if [SIGUSR1, SIGUSR2].contains(number) {
        try await host.current.line(with: "\(number == SIGUSR1 ? "SIGUSR1" : "SIGUSR2") is ignored")
      }
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test(
    "while a host launches nobody answers for its health; the first answer is that of a host that takes requests", arguments: [true, false])
  func healthAtLaunch(_ leavesSocket: Bool) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("launch_budget = \"2s\"\n")
      if leavesSocket {
        try await host.start()
        await host.kill()
      }
      try await host.add("sleeps.so", "faulty_launch", ["-DFAULT_IN_LAUNCH=sleeps", "-DIDENTIFIER=\"test.sleeps\""])
      try host.configure("launch_budget = \"2s\"\n")
      try host.spawn()
      let (refused, first) = try await onThread { [socket = host.socket] in
        let deadline = ContinuousClock.now + .seconds(30)
        var count = 0
        while ContinuousClock.now < deadline {
          if let answer = try? SocketClient(socket).request("GET", "/healthz") { return (count, answer) }
          count += 1
          usleep(10_000)
        }
        throw TestFailure("nobody answers")
      }
      #expect(refused > 0)
      #expect(first.status == 200, "\(first.body)")
      #expect(try first.json()["phase"]?.string == "launched")
    }
  }

  @Test(
    "a signal that is fatal ends the host soon, whatever Swift's runtime is told to do about it, and it starts again",
    arguments: [SIGQUIT, SIGABRT, SIGTRAP, SIGSEGV, SIGILL, SIGFPE, SIGBUS])
  func fatal(_ number: Int32) async throws {
    try await HostProcess.prepare(environment: ["SWIFT_BACKTRACE": "enable=yes"]) { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      host.signal(number)
      #expect(try await host.end(within: .seconds(5)).status == -number)
      try await host.start()
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("a socket that somebody removes comes back, as often as it is removed, and is the same")
  func removedSocket() async throws {
    try await HostProcess.run { host in
      let before = try Self.inode(of: host.socket)
      for round in 0..<3 {
        let position = host.current.lines.count
        try FileManager.default.removeItem(atPath: host.socket)
        try await host.current.line(with: "it is there again", from: position)
        #expect(try await host.cli("status").status == 0, "round \(round)")
      }
      let after = try Self.inode(of: host.socket)
      #expect(after == before)
      // What is somebody else's is left alone, and the socket comes back when that goes.
      var position = host.current.lines.count
      try FileManager.default.removeItem(atPath: host.socket)
      try await host.current.line(with: "it is there again", from: position)
      position = host.current.lines.count
      try FileManager.default.moveItem(atPath: try host.directory.file("other", "mine"), toPath: host.directory("state/other"))
      guard rename(host.directory("state/other"), host.socket) == 0 else { throw TestFailure("rename: errno \(errno)") }
      try await host.current.line(with: "something else has taken the place", from: position)
      #expect(host.directory.text("state/control.sock") == "mine")
      position = host.current.lines.count
      try FileManager.default.removeItem(atPath: host.socket)
      try await host.current.line(with: "it is there again", from: position)
      #expect(try await host.terminate().status == 0)
      #expect(access(host.socket, F_OK) != 0, "the host leaves no socket behind")
    }
  }

  @Test("a socket whose directory is removed, or moved, and made again comes back, as often as that happens")
  func removedDirectory() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("[control]\nsocket = \"place/c.sock\"\n")
      let place = try host.directory.folder("place")
      try await host.start()
      for isMoved in [false, false, true, false] {
        var position = host.current.lines.count
        if isMoved {
          try FileManager.default.moveItem(atPath: place, toPath: host.directory("away"))
        } else {
          // The host may put the socket back while this goes on.
          repeat { try? FileManager.default.removeItem(atPath: place) } while access(place, F_OK) == 0
        }
        try await host.current.line(with: "the control socket was removed with its directory: ", from: position)
        position = host.current.lines.count
        try host.directory.folder("place")
        try await host.current.line(with: "it is there again", from: position)
        // A connection to a socket that had no time to come back by itself may be closed once.
        let status = try await onThread {
          do { return try SocketClient(place + "/c.sock").request("GET", "/healthz").status } catch {
            return try SocketClient(place + "/c.sock").request("GET", "/healthz").status
          }
        }
        #expect(status == 200)
      }
      // Somebody's file in its place stays.
      var position = host.current.lines.count
      repeat { try? FileManager.default.removeItem(atPath: place) } while access(place, F_OK) == 0
      try await host.current.line(with: "the control socket was removed with its directory: ", from: position)
      position = host.current.lines.count
      try host.directory.folder("new")
      try host.directory.file("new/c.sock", "mine")
      #expect(rename(host.directory("new"), place) == 0)
      // Whether it is noticed while the socket is brought back or while it is looked at: it says what to do.
      try await host.current.line(with: "move it away", from: position)
      #expect(host.directory.text("place/c.sock") == "mine")
      position = host.current.lines.count
      unlink(place + "/c.sock")
      try await host.current.line(with: "it is there again", from: position)
      #expect(try await host.terminate().status == 0)
      let left = try FileManager.default.contentsOfDirectory(atPath: place)
      #expect(left.isEmpty)
    }
  }

  @Test("files that may not grow any more cost the store, not the host: both are said")
  func fileSize() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      // 512-byte blocks: 4 MiB.
      try host.spawn(through: ["/bin/sh", "-c", "ulimit -f 8192; exec \"$@\"", "sh"])
      try await host.current.line(with: "files may not grow beyond 4194304 bytes")
      try await host.current.line(with: "control socket open")
      let socket = host.socket
      let body = "{\"identifier\":\"test.script\",\"delay_ms\":3600000,\"payload\":\"\(String(repeating: "x", count: 60_000))\"}"
      // A checkpoint may make room in the log once more, so the first refusal need not be the last word.
      let health = try await onThread {
        for _ in 0..<500 {
          guard try SocketClient(socket).request("POST", "/v1/requests", body: body).status == 503 else { continue }
          let health = try SocketClient(socket).request("GET", "/healthz")
          if health.status == 503 { return health }
        }
        throw TestFailure("the store was never lost")
      }
      try await host.current.line(with: "store")
      #expect(host.isRunning)
      let problem = try health.json()["problem"]?.string
      #expect(problem?.isEmpty == false)
    }
  }

  @Test("a launch that fails because files may not grow any more says so", arguments: [40, 140, 200, 240])
  func fileSizeAtLaunch(_ blocks: Int) async throws {
    try await HostProcess.prepare { host in
      try host.configure("")
      // 512-byte blocks.
      try host.spawn(through: ["/bin/sh", "-c", "ulimit -f \(blocks); exec \"$@\"", "sh"])
      let end = try await host.end(within: .seconds(20))
      #expect(end.status == 78, "\(end)")
      let sentence = end.errors.split(separator: "\n").last { $0.hasPrefix("taskhost: ") }.map(String.init) ?? ""
      #expect(sentence.contains("ulimit -f"), "\(end.errors)")
    }
  }

  @Test(
    "a host that is not given enough says what it lacks and ends, instead of waiting or crashing",
    arguments: [
      ("ulimit -n 20", "20 descriptors are allowed"), ("ulimit -n 64", "ulimit -n"), ("ulimit -v 400000", "ulimit -v"),
    ])
  func shortage(_ limit: String, _ words: String) async throws {
    try await HostProcess.prepare { host in
      try host.configure("")
      try host.spawn(through: ["/bin/sh", "-c", "\(limit); exec \"$@\"", "sh"])
      let end = try await host.end(within: .seconds(20))
      #expect(end.status == 75, "\(end)")
      #expect(end.errors.contains(words), "\(end.errors)")
    }
  }

  private static func inode(of path: String) throws -> UInt64 {
    var info = stat()
    guard lstat(path, &info) == 0 else { throw TestFailure("\(path): errno \(errno)") }
    return UInt64(info.st_ino)
  }
}
