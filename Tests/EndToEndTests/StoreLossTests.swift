import Foundation
import Glibc
import TestSupport
import Testing

/// A store that was damaged, emptied, deleted or replaced: it is said, and nothing that was acknowledged is lost in silence.
@Suite("A store that is lost", .timeLimit(.minutes(20)))
struct StoreLossTests {
  private func expectRefusal(_ host: HostProcess, _ words: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let result = try await host.failure([])
    #expect(result.status == 78, "\(result.errors)", sourceLocation: sourceLocation)
    for word in words + ["--accept-store-loss"] {
      #expect(result.errors.contains(word), "\(result.errors)", sourceLocation: sourceLocation)
    }
  }

  /// What happens to the files of a host that was killed.
  private static let losses: [(name: String, harm: @Sendable (String) -> Void)] = [
    ("emptied database", { truncate($0 + "/taskhost.sqlite", 0) }),
    ("deleted database", { unlink($0 + "/taskhost.sqlite") }),
    ("deleted log", { unlink($0 + "/taskhost.sqlite-wal") }),
    ("emptied log", { truncate($0 + "/taskhost.sqlite-wal", 0) }),
  ]

  @Test("after kill -9 a launch refuses a store that lacks what was acknowledged, and goes on when that is accepted", arguments: 0..<4)
  func lost(_ index: Int) async throws {
    try await HostProcess.run { host in
      _ = try await host.submit("result 0", ["--after", "1h"])
      await host.kill()
      Self.losses[index].harm(host.directory("state"))
      try await expectRefusal(host, "the store has lost records")
      try await host.start(["--accept-store-loss"])
      let status = try await host.cli("status")
      #expect(status.status == 0 && status.output.contains("store loss"), "\(status.output)")
      try await host.terminate()
      try await host.start()
    }
  }

  @Test("a launch that fails for another reason leaves a store that was closed, so the next one reports no loss")
  func failedLaunch() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      let (plugins, away) = (host.directory("plugins"), host.directory("away"))
      try FileManager.default.moveItem(atPath: plugins, toPath: away)
      #expect(try await host.failure([]).status == 78)
      try FileManager.default.moveItem(atPath: away, toPath: plugins)
      try await host.start()
      #expect(try await host.json("status")["problems"]?.array == [])
    }
  }

  @Test("a bit that flipped on the disk shows in the status, and the host runs on")
  func flipped() async throws {
    try await HostProcess.run { host in
      for number in 0..<40 { _ = try await host.submit("result 0;\(String(repeating: "x", count: 3000)) \(number)", ["--after", "1h"]) }
      try await host.terminate()
      let path = host.directory("state/taskhost.sqlite")
      var bytes = try Data(contentsOf: URL(filePath: path))
      let place = try #require(bytes.range(of: Data(repeating: 0x78, count: 500))?.lowerBound)
      bytes[place + 100] ^= 0x20
      try host.directory.file("state/taskhost.sqlite", bytes, mode: 0o600)
      try await host.start()
      try await host.current.line(with: "the store is damaged")
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("! store damaged"), "\(status.output)")
      #expect(status.output.contains("1 page is not as written, \(place / 4096 + 1) of"), "\(status.output)")
      let problem = try await host.json("status")["problems"]?.array.first { $0["kind"]?.string == "store_damaged" }
      #expect(problem?["subject"]?.string == path)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      // Nobody has mended it: the next host knows, before it has looked again.
      try await host.terminate()
      try await host.start()
      #expect(try await host.cli("status").output.contains("! store damaged"))
    }
  }

  @Test("a state directory that was deleted is noticed where store_mark names a file elsewhere")
  func deletedDirectory() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("store_mark = \"elsewhere.mark\"\n")
      try await host.start()
      _ = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      try FileManager.default.removeItem(atPath: host.directory("state"))
      try await expectRefusal(host, "missing or empty")
      try await host.start(["--accept-store-loss"])
      #expect(try await host.json("status")["requests"]?["pending"]?.integer == 0)
    }
  }

  @Test("a store that was deleted with its mark is noticed by what is left in the state directory", arguments: [true, false])
  func deletedStore(_ hasSums: Bool) async throws {
    try await HostProcess.run { host in
      _ = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      for name in ["taskhost.sqlite", "taskhost.sqlite-wal", "taskhost.sqlite-shm", "store.mark"] {
        unlink(host.directory("state/" + name))
      }
      if !hasSums { unlink(host.directory("state/taskhost.sqlite.sums")) }
      try await expectRefusal(host, "missing or empty", "belongs to an earlier store")
      try await host.start(["--accept-store-loss"])
      #expect(try await host.json("status")["requests"]?["pending"]?.integer == 0)
      try await host.terminate()
      try await host.start()
    }
  }

  @Test("checksums that were deleted are a warning until the next launch")
  func deletedSums() async throws {
    try await HostProcess.run { host in
      _ = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      unlink(host.directory("state/taskhost.sqlite.sums"))
      try await host.start()
      let status = try await host.cli("status")
      #expect(status.status == 0 && status.output.contains("- store unchecked"), "\(status.output)")
      #expect(status.output.contains("taskhost.sqlite.sums is missing or empty"), "\(status.output)")
      try await host.terminate()
      try await host.start()
      #expect(!(try await host.cli("status")).output.contains("store unchecked"))
    }
  }

  /// What a `store_mark` must not name: the key's value, what is made for it, and words of the sentence.
  private static let wrongMarks: [(value: String, make: @Sendable (TestDirectory) throws -> Void, words: [String])] = [
    ("precious", { _ = try $0.file("precious", "precious") }, ["precious exists and was not written by a host"]),
    ("empty", { _ = try $0.file("empty", "") }, ["empty exists and was not written by a host"]),
    ("link", { symlink("precious", $0("link")) }, ["is not a regular file"]),
    ("pipe", { mkfifo($0("pipe"), 0o600) }, ["is not a regular file"]),
    ("good", { _ = try $0.file("good.new", "precious") }, ["good.new exists"]),
    ("shared", { _ in }, ["is not a regular file"]),
    ("missing/store.mark", { _ in }, ["missing: No such file"]),
    ("state/store.mark", { _ in }, ["inside of the state directory"]),
    ("way/store.mark", { symlink("state", $0("way")) }, ["inside of the state directory"]),
    ("", { _ in }, ["a path cannot be empty"]),
  ]

  @Test("a store_mark that could be no mark is refused with a sentence, and what is there stays", arguments: 0..<10)
  func wrongMark(_ index: Int) async throws {
    let (value, make, words) = Self.wrongMarks[index]
    try await HostProcess.prepare { host in
      try host.directory.folder("state")
      try make(host.directory)
      let path = host.directory(value)
      let kept = try? Self.identity(path)
      try host.configure("store_mark = \"\(value)\"\n")
      let result = try await host.failure()
      #expect(result.status == 78, "\(result.errors)")
      for word in words + ["store_mark"] { #expect(result.errors.contains(word), "\(result.errors)") }
      #expect((try? Self.identity(path)) == kept)
      if value == "precious" { #expect(host.directory.text("precious") == "precious") }
    }
  }

  private static func identity(_ path: String) throws -> [UInt64] {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw TestFailure("\(path): errno \(errno)") }
    return [UInt64(status.st_dev), UInt64(status.st_ino), UInt64(status.st_mode)]
  }

  @Test(
    "a database or log that is deleted or replaced under a running host refuses submissions with 503, shows in the status, and ends nothing",
    arguments: ["taskhost.sqlite", "taskhost.sqlite-wal"], [true, false])
  func replaced(_ name: String, _ isReplaced: Bool) async throws {
    try await HostProcess.run { host in
      let kept = try await host.submit("result 0", ["--after", "1h"])
      let (file, away) = (host.directory("state/" + name), host.directory("away"))
      #expect(rename(file, away) == 0)
      if isReplaced { try Data(repeating: 0, count: 4096).write(to: URL(filePath: file)) }
      let refused = try await onThread { [socket = host.socket] in
        try SocketClient(socket, limit: .seconds(10)).request("POST", "/v1/requests", body: "{\"identifier\":\"test.script\"}")
      }
      #expect(refused.status == 503, "\(refused.body)")
      #expect(refused.body.contains("deleted or replaced"), "\(refused.body)")
      try await host.current.line(with: "deleted or replaced")
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("! store replaced"), "\(status.output)")
      #expect(host.isRunning)
      // The same file again: nothing was lost.
      #expect(rename(away, file) == 0)
      try await host.current.line(with: "files are again those")
      #expect(try await host.json("tasks", "show", kept)["state"]?.string == "pending")
    }
  }

  @Test(
    "a database or log that is cut short under a running host refuses submissions with 503, and the host is not well",
    arguments: ["taskhost.sqlite", "taskhost.sqlite-wal"], [0, 1000])
  func cut(_ name: String, _ size: Int) async throws {
    try await HostProcess.run { host in
      for _ in 0..<3 { _ = try await host.submit("result 0", ["--after", "1h"]) }
      #expect(truncate(host.directory("state/" + name), off_t(size)) == 0)
      let (refused, health) = try await onThread { [socket = host.socket] in
        let client = try SocketClient(socket, limit: .seconds(10))
        let refused = try client.request("POST", "/v1/requests", body: "{\"identifier\":\"test.script\"}")
        return (refused, try client.request("GET", "/healthz"))
      }
      #expect(refused.status == 503 && refused.body.contains("cut short"), "\(refused.body)")
      #expect(health.status == 503 && health.body.contains("cut short"), "\(health.body)")
      let status = try await host.cli("status")
      #expect(status.status == 1 && status.output.contains("! store replaced"), "\(status.output)")
      #expect(host.isRunning)
    }
  }
}
