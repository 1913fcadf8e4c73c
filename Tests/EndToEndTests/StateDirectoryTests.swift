import TestSupport
import Foundation
import Glibc
import Testing

/// State directories that a host cannot have: exit 78 and a sentence.
@Suite("State directory", .timeLimit(.minutes(20)))
struct StateDirectoryTests {
  private func expectRefusal(
    _ host: HostProcess, _ words: String..., arguments: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let result = try await host.failure(arguments)
    #expect(result.status == 78, "\(result.errors)", sourceLocation: sourceLocation)
    let sentence = result.errors.split(separator: "\n").last { $0.hasPrefix("taskhost: ") }.map(String.init) ?? ""
    for word in words { #expect(sentence.contains(word), "\(result.errors)", sourceLocation: sourceLocation) }
  }

  @Test("80: a second host on the same state directory is refused, names the first, and does not disturb it")
  func twoHosts() async throws {
    try await HostProcess.run { host in
      try await expectRefusal(host, "another host", "process \(host.processID)", "--state")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      // The lock goes with the process, however it ends.
      await host.kill()
      try await host.start()
    }
  }

  @Test("80: a second host on the same state directory is refused though somebody removed the lock file, as often as it tries")
  func removedLock() async throws {
    try await HostProcess.run { host in
      for _ in 0..<2 {
        unlink(host.directory("state/lock"))
        try await expectRefusal(host, "another host", "--state")
      }
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      await host.kill()
      try await host.start()
    }
  }

  @Test(
    "80: a lock file that somebody removed or replaced is made again, locked as before, and shows in the status", arguments: [true, false])
  func lockMadeAgain(_ isReplaced: Bool) async throws {
    try await HostProcess.run { host in
      let path = host.directory("state/lock")
      if isReplaced {
        let other = try host.directory.file("other", "not a lock")
        #expect(rename(other, path) == 0)
      } else {
        unlink(path)
      }
      try await host.current.line(with: isReplaced ? "lock is another file now" : "lock is gone")
      let status = try await host.cli("status")
      #expect(status.status == 0 && status.output.contains("- state directory"), "\(status.output)")
      let lock = open(path, O_RDWR | O_CLOEXEC)
      defer { close(lock) }
      #expect(lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0)
      try await expectRefusal(host, "another host", "process \(host.processID)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("80: two hosts on state directories of their own run side by side")
  func sideBySide() async throws {
    try await HostProcess.run { host in
      let log = HostLog()
      let other = try Program(
        try BuiltProgram.taskhost, ["run", "--plugins", host.plugins, "--state", host.directory("other")], directory: host.plugins,
        onErrorLine: { log.add($0) })
      defer { other.send(SIGKILL) }
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let socket = host.directory("other/control.sock")
      try await log.line(with: "control socket open")
      let status = try await Program.run(try BuiltProgram.taskhost, ["status", "--json", "--socket", socket]).json()
      #expect(status["process_id"]?.integer == Int64(other.processID))
      #expect(status["state_directory"]?.string == host.directory("other"))
      other.send(SIGTERM)
      #expect(try await other.result().status == 0)
    }
  }

  @Test("80: a control socket that another host serves is not taken from it")
  func sameSocket() async throws {
    try await HostProcess.run { host in
      try host.directory.file(
        "other.toml",
        "plugin_directories = [\"plugins\"]\nstate_directory = \"other\"\n[control]\nsocket = \"state/control.sock\"\n")
      let other = try await Program.run(
        try BuiltProgram.taskhost, ["run", "--config", host.directory("other.toml")], directory: host.directory.path)
      #expect(other.status == 78)
      #expect(other.errors.contains("taskhost: ") && other.errors.contains("state/control.sock"), "\(other.errors)")
      #expect(try await host.json("status")["process_id"]?.integer == Int64(host.processID))
    }
  }

  @Test("79: a file where the state directory should be")
  func file() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("")
      try host.directory.file("state", "this is a file")
      try await expectRefusal(host, "state", "Not a directory")
    }
  }

  @Test("a state directory that does not exist is made, with its parents")
  func made() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("state_directory = \"a/b/state\"\n[control]\nsocket = \"control.sock\"\n")
      try await host.start()
      var info = stat()
      #expect(stat(host.directory("a/b/state"), &info) == 0 && info.st_mode & 0o777 == 0o700)
    }
  }

  @Test("79: a state directory that cannot be written")
  func readOnly() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("")
      if geteuid() == 0 {
        // Root writes whatever the mode says: what stops it is a file system that is mounted read-only.
        let state = try host.directory.folder("state")
        guard mount("taskhost-test", state, "tmpfs", UInt(MS_RDONLY), "mode=700") == 0 else { return }
        defer { umount2(state, Int32(MNT_DETACH)) }
        try await expectRefusal(host, "state", "Read-only file system")
      } else {
        try host.directory.folder("state")
        chmod(host.directory("state"), 0o500)
        try await expectRefusal(host, "state", "Permission denied")
      }
    }
  }

  @Test("79: a state directory on a full disk", .enabled(if: geteuid() == 0, "mounts a small file system"))
  func full() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("")
      let state = try host.directory.folder("state")
      guard mount("taskhost-test", state, "tmpfs", 0, "size=64k,mode=700") == 0 else { return }
      defer { umount2(state, Int32(MNT_DETACH)) }
      try Data(repeating: 1, count: 40_000).write(to: URL(filePath: state + "/ballast"))
      try await expectRefusal(host, "state", "No space left on device")
    }
  }

  @Test(
    "79: a disk that fills up while the host runs: submissions are refused with a reason, and taken again when there is room",
    .enabled(if: geteuid() == 0, "mounts a small file system"))
  func fillsUp() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      let state = try host.directory.folder("state")
      guard mount("taskhost-test", state, "tmpfs", 0, "size=4m,mode=700") == 0 else { return }
      defer { umount2(state, Int32(MNT_DETACH)) }
      try await host.start()
      let kept = try await host.submit("result 0", ["--after", "1h"])
      let ballast = open(state + "/ballast", O_WRONLY | O_CREAT, 0o600)
      let block = [UInt8](repeating: 7, count: 4096)
      while write(ballast, block, block.count) > 0 {}
      close(ballast)
      // What is already allocated may take some more; soon it is full.
      var refusal: Program.Result?
      for _ in 0..<200 where refusal == nil {
        let result = try await host.cli(
          ["submit", "test.script", "--payload", "@-", "--after", "1h"], input: Data(repeating: 0x78, count: 60_000))
        if result.status != 0 { refusal = result }
      }
      let refused = try #require(refusal)
      #expect(refused.status == 6)
      #expect(refused.errors.contains("full"), "\(refused.errors)")
      #expect(host.isRunning)
      unlink(state + "/ballast")
      // The host finds out by itself; a request that is due proves it.
      let position = host.current.lines.count
      var taken = try await host.cli("submit", "test.script", "--wait", "--json")
      if taken.status != 0 {
        try await host.current.line(with: "the store works again", from: max(0, position - 50))
        taken = try await host.cli("submit", "test.script", "--wait", "--json")
      }
      #expect(taken.status == 0, "\(taken.errors)")
      #expect(try await host.json("tasks", "show", kept)["state"]?.string == "pending")
    }
  }

  @Test("79: a database that is no database")
  func corrupt() async throws {
    try await HostProcess.run { host in
      _ = try await host.run("result 0")
      try await host.terminate()
      for name in ["taskhost.sqlite-wal", "taskhost.sqlite-shm"] { unlink(host.directory("state/" + name)) }
      try host.directory.file("state/taskhost.sqlite", Data(repeating: 0x5A, count: 20_000), mode: 0o600)
      try await expectRefusal(host, "store", "taskhost.sqlite")
      #expect(try Data(contentsOf: URL(filePath: host.directory("state/taskhost.sqlite"))).count == 20_000, "and it is left as it was")
    }
  }

  @Test("79: a database with a damaged page is refused, or serves what is whole: it never kills the host")
  func damagedPages() async throws {
    try await HostProcess.run { host in
      for _ in 0..<20 { _ = try await host.submit("result 0", ["--after", "1h", "--tag", "kept"]) }
      try await host.terminate()
      let path = host.directory("state/taskhost.sqlite")
      var bytes = try Data(contentsOf: URL(filePath: path))
      for offset in stride(from: 4096, to: bytes.count, by: 512) { bytes[offset] ^= 0xFF }
      try host.directory.file("state/taskhost.sqlite", bytes, mode: 0o600)
      try host.spawn()
      _ = try? await host.current.line(with: "launched:", within: .seconds(10))
      if host.isRunning {
        _ = try await host.cli("tasks", "list")
        #expect(host.isRunning)
        #expect(try await host.terminate().status == 0)
      } else {
        #expect(try await host.end().status == 78)
      }
    }
  }

  @Test("after a clean end one file has everything")
  func closed() async throws {
    try await HostProcess.run { host in
      let id = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      var log = stat()
      let isThere = stat(host.directory("state/taskhost.sqlite-wal"), &log) == 0
      #expect(!isThere || log.st_size == 0, "the write-ahead log has \(log.st_size) bytes: the store was not closed")
      for name in ["taskhost.sqlite-wal", "taskhost.sqlite-shm"] { unlink(host.directory("state/" + name)) }
      try await host.start()
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "pending")
    }
  }

  @Test("79: a database of a newer taskhost")
  func futureSchema() async throws {
    try await HostProcess.run { host in
      try await host.terminate()
      // The names of the migrations are in the file; a newer one has a name that this host does not know.
      let path = host.directory("state/taskhost.sqlite")
      var bytes = try Data(contentsOf: URL(filePath: path))
      let (known, newer) = (Data("1 requests, runs, state".utf8), Data("9 requests, runs, state".utf8))
      try #require(bytes.range(of: known) != nil)
      while let place = bytes.range(of: known) { bytes.replaceSubrange(place, with: newer) }
      try host.directory.file("state/taskhost.sqlite", bytes, mode: 0o600)
      try await expectRefusal(host, "store", "9 requests, runs, state")
    }
  }
}
