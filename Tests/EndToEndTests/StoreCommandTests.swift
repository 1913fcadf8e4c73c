import Foundation
import Glibc
import TestSupport
import Testing

/// `taskhost store` with the files of a real host, running, stopped and killed.
@Suite("taskhost store", .timeLimit(.minutes(20)))
struct StoreCommandTests {
  /// The command on the host's state directory, from its directory.
  private func store(_ host: HostProcess, _ arguments: String..., input: Data = Data()) async throws -> Program.Result {
    try await host.cli(["store"] + arguments, input: input)
  }

  @discardableResult
  private func succeeds(
    _ host: HostProcess, _ arguments: String..., input: Data = Data(), sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> Program.Result {
    let result = try await host.cli(["store"] + arguments, input: input)
    #expect(result.status == 0, "\(arguments): \(result.errors)", sourceLocation: sourceLocation)
    return result
  }

  @Test("check, backup and export work beside a running host, which goes on")
  func beside() async throws {
    try await HostProcess.run { host in
      for number in 0..<20 { _ = try await host.submit("result 0;\(number)", ["--after", "1h", "--tag", "t"]) }
      _ = try await host.run("result 0")
      let check = try await succeeds(host, "check", "--json").json()
      #expect(check["whole"]?.bool == true && check["requests"]?.integer == 21 && check["runs"]?.integer == 1)
      #expect(check["taskhost"]?.string == "0.1.0")
      try await succeeds(host, "backup", "b.sqlite")
      var status = stat()
      #expect(lstat(host.directory("b.sqlite"), &status) == 0 && status.st_mode & 0o7777 == 0o600)
      let lines = try await succeeds(host, "export").output.split(separator: "\n")
      #expect(lines.first?.hasPrefix(#"{"format":"taskhost-store","version":1,"taskhost":"0.1.0","#) == true)
      #expect(lines.count { $0.hasPrefix(#"{"kind":"request""#) } == 21)
      try await succeeds(host, "export", "s.jsonl")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      #expect(try await host.json("status")["problems"]?.array == [])
      try await host.terminate()
      try await host.start()
      try await host.current.line(with: "launched:")
      #expect(try await host.json("status")["problems"]?.array == [])
    }
  }

  @Test("what fails is an object of JSON with --json, on standard output, and a line for people beside it")
  func failures() async throws {
    try await HostProcess.prepare { host in
      try host.configure("")
      for (arguments, code) in [
        (["check"], "failed"), (["backup", "b.sqlite"], "failed"), (["vacuum"], "failed"), (["import", "none.jsonl"], "failed"),
      ] {
        let result = try await host.cli(["store"] + arguments + ["--json"])
        #expect(result.status == 1 && result.errors.hasPrefix("taskhost: "), "\(arguments): \(result)")
        let error = try result.json()["error"]
        #expect(error?["code"]?.string == code && error?["message"]?.string?.isEmpty == false, "\(arguments): \(result)")
      }
      try await host.start()
      let refused = try await host.cli("store", "vacuum", "--json")
      #expect(refused.status == 6, "\(refused)")
      #expect(try refused.json()["error"]?["code"]?.string == "refused", "\(refused)")
    }
  }

  @Test("restore, import and vacuum are refused while a host runs, and say what to do", arguments: ["restore", "import", "vacuum"])
  func refused(_ command: String) async throws {
    try await HostProcess.run { host in
      _ = try await host.submit("result 0", ["--after", "1h"])
      try await succeeds(host, "backup", "b.sqlite")
      let result = try await host.cli(["store", command] + (command == "vacuum" ? [] : ["b.sqlite"]))
      #expect(result.status == 6, "\(result.errors)")
      #expect(result.errors.contains("another host (process \(host.processID)) has it: stop that one"), "\(result.errors)")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("a host goes on with a restored store, and with one that was compacted")
  func restored() async throws {
    try await HostProcess.run { host in
      let early = try await host.submit("result 0", ["--after", "1h"])
      try await succeeds(host, "backup", "b.sqlite")
      let late = try await host.submit("result 0", ["--after", "1h"])
      await host.kill()
      let restored = try await succeeds(host, "restore", "b.sqlite", "--json").json()
      #expect(restored["requests"]?.integer == 1)
      #expect(restored["replaced"]?.string?.contains("taskhost.sqlite.replaced-") == true)
      try await succeeds(host, "check")
      try await host.start()
      #expect(try await host.json("status")["problems"]?.array == [])
      #expect(try await host.json("tasks", "show", early)["state"]?.string == "pending")
      #expect(try await host.cli("tasks", "show", late).status == 6)
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      try await host.terminate()
      try await succeeds(host, "vacuum")
      try await host.start()
      #expect(try await host.json("status")["problems"]?.array == [])
      #expect(try await host.json("tasks", "show", early)["state"]?.string == "pending")
    }
  }

  @Test("a host launches from an export in a new state directory, with the same ids")
  func moved() async throws {
    try await HostProcess.run { host in
      let id = try await host.submit("result 0", ["--after", "1h", "--key", "k"])
      let run = try await host.run("result 0")["run"]?["id"]?.string
      #expect(try await succeeds(host, "export").output.prefix { $0 != "\n" }.contains(#""open":true"#), "a host runs")
      try await host.terminate()
      let export = try await succeeds(host, "export").output
      let trial = try await succeeds(host, "import", "--state", "other", "--dry-run", "--json", input: Data(export.utf8)).json()
      #expect(trial["requests"]?.integer == 2 && trial["runs"]?.integer == 1)
      #expect(
        access(host.directory("other/taskhost.sqlite"), F_OK) != 0 || StoreCommandTests.size(host.directory("other/taskhost.sqlite")) == 0)
      try await succeeds(host, "import", "--state", "other", input: Data(export.utf8))
      #expect(try await succeeds(host, "export", "--state", "other").output == export)
      try FileManager.default.removeItem(atPath: host.directory("state"))
      try FileManager.default.moveItem(atPath: host.directory("other"), toPath: host.directory("state"))
      try await host.start()
      #expect(try await host.json("status")["problems"]?.array == [])
      #expect(try await host.json("tasks", "show", id)["unique_key"]?.string == "k")
      #expect(try await host.json("runs", "show", try #require(run))["outcome"]?.string == "succeeded")
    }
  }

  private static func size(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  @Test("a store with a wrong record is said with exit 1, and vacuum mends what is derived")
  func wrong() async throws {
    try await HostProcess.run { host in
      _ = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      let path = host.directory("state/taskhost.sqlite")
      let sql = "PRAGMA wal_checkpoint(TRUNCATE); UPDATE request_counts SET requests = 9; PRAGMA journal_mode = DELETE"
      let change = try await Program.run(
        "/usr/bin/python3", ["-c", "import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2])", path, sql])
      #expect(change.status == 0, "\(change.errors)")
      unlink(path + ".sums")
      let check = try await store(host, "check")
      #expect(check.status == 1 && check.errors.contains("! derived: 1 count of requests"), "\(check.errors)")
      #expect(check.errors.contains("taskhost store vacuum") && check.output == "")
      let json = try await store(host, "check", "--json")
      #expect(try json.status == 1 && json.json()["problems"]?.array.first?["kind"]?.string == "derived")
      let mended = try await succeeds(host, "vacuum")
      #expect(mended.errors.contains("built again: 1 count"), "\(mended.errors)")
      try await succeeds(host, "check")
    }
  }

  @Test("what is not there, is not a store or may not be written is an error with a remedy")
  func hostile() async throws {
    try await HostProcess.run { host in
      _ = try await host.submit("result 0", ["--after", "1h"])
      try await host.terminate()
      try host.directory.file("letter.txt", "dear")
      for (arguments, word) in [
        (["check", "--state", "none"], "there is no store here"), (["vacuum", "--state", "none"], "there is no store here"),
        (["export", "--state", "none"], "there is no store here"), (["backup", "letter.txt"], "is not a backup"),
        (["backup", "state/copy"], "is in the state directory"), (["restore", "letter.txt"], "damaged, or not a store"),
        (["restore", "none"], "No such file"), (["import", "letter.txt"], "line 1: this is no export"),
        (["import", "none"], "No such file"), (["import", "/dev/null"], "it is empty"), (["export", "/dev/full"], "is not a file"),
        (["export", "letter.txt"], "is not an export"),
        (["check", "--config", "none.toml"], "none.toml"),
      ] {
        let result = try await host.cli(["store"] + arguments)
        #expect(
          result.status == 1 && result.errors.contains(word) && result.output == "", "\(arguments): \(result.status) \(result.errors)")
      }
      #expect(access(host.directory("none"), F_OK) != 0)
      #expect(host.directory.text("letter.txt") == "dear")
      try await succeeds(host, "check")
    }
  }

  @Test("a backup onto a full disk, or beyond the size that a file may have, leaves the old one")
  func fullDisk() async throws {
    try await HostProcess.run { host in
      let small = try host.directory.folder("small")
      let isMounted = mount("taskhost-test", small, "tmpfs", 0, "size=512k,mode=700") == 0
      defer { if isMounted { umount2(small, Int32(MNT_DETACH)) } }
      _ = try await host.submit("result 0", ["--after", "1h"])
      try await succeeds(host, "backup", "small/b.sqlite")
      let old = try Data(contentsOf: URL(filePath: host.directory("small/b.sqlite")))
      for number in 0..<30 {
        _ = try await host.submit("result 0;\(String(repeating: "x", count: 30_000)) \(number)", ["--after", "1h"])
      }
      var commands = [["/bin/sh", "-c", "ulimit -f 512; exec \"$@\"", "sh"]]
      if isMounted { commands.append([]) }
      for wrapper in commands {
        let command = wrapper + [try BuiltProgram.taskhost, "store", "backup", "small/b.sqlite"]
        let result = try await Program.run(command[0], Array(command.dropFirst()), directory: host.directory.path)
        #expect(result.status == 1 && result.output == "", "\(result.status) \(result.errors)")
        #expect(result.errors.contains(wrapper.isEmpty ? "free some space" : "ulimit -f"), "\(result.errors)")
        #expect(try Data(contentsOf: URL(filePath: host.directory("small/b.sqlite"))) == old)
        #expect(try FileManager.default.contentsOfDirectory(atPath: small) == ["b.sqlite"])
      }
      // The host has not noticed.
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("an import that is killed in the middle leaves the store, and the next one succeeds")
  func killedImport() async throws {
    try await HostProcess.run { host in
      for number in 0..<50 { _ = try await host.submit("result 0;\(number)", ["--after", "1h"]) }
      let export = try await succeeds(host, "export").output
      try await host.terminate()
      let path = host.directory("state/taskhost.sqlite")
      let before = try Data(contentsOf: URL(filePath: path))
      let pipe = try host.directory.fifo("pipe")
      let command = try host.startCLI("store", "import", pipe.path)
      // The command has opened the pipe once this returns, and waits for the rest of the lines.
      let descriptor = try await onThread { open(pipe.path, O_WRONLY) }
      let half = Array(export.utf8.prefix(export.utf8.count / 2))
      #expect(try await onThread { write(descriptor, half, half.count) } == half.count)
      command.send(SIGKILL)
      _ = try await command.result()
      close(descriptor)
      #expect(try Data(contentsOf: URL(filePath: path)) == before)
      try await succeeds(host, "import", input: Data(export.utf8))
      try await succeeds(host, "check")
      let names = try FileManager.default.contentsOfDirectory(atPath: host.directory("state"))
      #expect(!names.contains { $0.contains(".taskhost-new") }, "\(names)")
      try await host.start()
      #expect(try await host.json("status")["problems"]?.array == [])
    }
  }
}
