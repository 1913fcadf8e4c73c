import Foundation
import Glibc
import TestSupport
import Testing

/// A host whose store is sealed: what is in its files, what happens to its keys and to it.
@Suite("Encryption", .timeLimit(.minutes(20)))
struct EncryptionTests {
  private static let marker = "MARKER-5e1f"
  private static let table = "[encryption]\nkey_file = \"store.key\"\n"
  private static let off = "[encryption]\nkey_file = \"store.key\"\nseal = false\n"

  /// A host with the plugin `script.c` that is not started.
  private func prepare(_ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try await body(host)
    }
  }

  @discardableResult
  private func makeKey(_ host: HostProcess, _ name: String = "store.key") async throws -> String {
    let made = try await host.cli("store", "key", name, "--json")
    return try #require(try made.json()["id"]?.string, "\(made.errors)")
  }

  /// The files of the state directory that have the marker in them.
  private func plainFiles(_ host: HostProcess) throws -> [String] {
    let marker = Data(Self.marker.utf8)
    let folder = host.directory("state")
    return try FileManager.default.contentsOfDirectory(atPath: folder).sorted().filter { name in
      guard name.hasPrefix("taskhost.sqlite"), let data = try? Data(contentsOf: URL(filePath: "\(folder)/\(name)")) else { return false }
      return data.range(of: marker) != nil
    }
  }

  /// Leaves the marker in payloads, outputs, logs, state and messages.
  private func fill(_ host: HostProcess) async throws -> String {
    let waiting = try await host.submit("result 0;\(Self.marker)", ["--after", "1h", "--tag", "t"])
    _ = try await host.run("state-set k \(Self.marker)")
    _ = try await host.run("log 2 \(Self.marker);message \(Self.marker)")
    return waiting
  }

  private func check(_ host: HostProcess) async throws -> (status: Int32, answer: JSON) {
    let result = try await host.cli("store", "check", "--json")
    return (result.status, try result.json())
  }

  /// Waits until the store needs no other key, and returns the log's line.
  private func sealed(_ host: HostProcess) async throws {
    try await host.current.line(with: "no other key is needed")
  }

  /// Waits until a request is in a state, by the list, which shows no payloads.
  private func listed(_ host: HostProcess, _ id: String, is state: String) async throws -> JSON {
    for _ in 0..<300 {
      let requests = try await host.json("tasks", "list")["requests"]?.array ?? []
      if let found = requests.first(where: { $0["id"]?.string == id && $0["state"]?.string == state }) { return found }
      try await Task.sleep(for: .milliseconds(100))
    }
    throw TestFailure("request \(id) does not become \(state)")
  }

  private func sql(_ host: HostProcess, _ text: String) async throws {
    let path = host.directory("state/taskhost.sqlite")
    let script = "PRAGMA wal_checkpoint(TRUNCATE); \(text)"
    let change = try await Program.run(
      "/usr/bin/python3",
      ["-c", "import sqlite3,sys; c = sqlite3.connect(sys.argv[1]); c.executescript(sys.argv[2]); c.close()", path, script])
    #expect(change.status == 0, "\(change.errors)")
    unlink(path + ".sums")
  }

  @Test(
    "a new store has no plaintext while its host runs, after its end and when it was killed; check proves it", arguments: [true, false])
  func fromTheBeginning(_ isKilled: Bool) async throws {
    try await prepare { host in
      try await makeKey(host)
      try host.configure(Self.table)
      try await host.start()
      let waiting = try await fill(host)
      #expect(try plainFiles(host) == [])
      var (status, answer) = try await check(host)
      #expect(status == 0 && answer["sealed"]?["no_plaintext_is_left"]?.bool == true, "\(answer)")
      if isKilled { await host.kill() } else { try await host.terminate() }
      #expect(try plainFiles(host) == [])
      try await host.start()
      #expect(try await host.json("tasks", "show", waiting)["payload"]?.string == "result 0;\(Self.marker)")
      let member = #"{"account":"\#(Self.marker)"}"#
      #expect(try await host.cli("submit", "test.script", "--payload", member, "--after", "1h").status == 0)
      let found = try await host.json("tasks", "list", "payload.account:\"\(Self.marker)\"")["requests"]?.array
      #expect(found?.count == 1)
      #expect(try await host.json("status")["problems"]?.array == [])
      (status, answer) = try await check(host)
      #expect(status == 0 && answer["sealed"]?["plain"]?.integer == 0, "\(answer)")
    }
  }

  @Test("turned on for a store, killed again and again while it seals, it ends with every value sealed, and a vacuum leaves no plaintext")
  func turnedOn() async throws {
    try await prepare { host in
      try host.configure("max_pending = 100000\n")
      try await host.start()
      let waiting = try await fill(host)
      let many = (0..<3000).map { #"{"identifier":"test.script","payload":"\#(Self.marker) \#($0)","delay_ms":36000000}"# }
      let (socket, body) = (host.socket, "[" + many.joined(separator: ",") + "]")
      let posted = try await onThread { try SocketClient(socket).request("POST", "/v1/requests", body: body).status }
      #expect(posted == 201)
      try await host.terminate()
      #expect(try plainFiles(host) == ["taskhost.sqlite"])
      try await makeKey(host)
      try host.configure(Self.table + "\n")
      for hit in 1...3 {
        try host.spawn(through: ["/usr/bin/env", "TASKHOST_FAILPOINT=values-rewritten:\(hit * 3)"])
        let end = try await host.end(within: .seconds(60))
        #expect(end.status == -SIGKILL)
        let (status, answer) = try await check(host)
        #expect(status == 1 && (answer["sealed"]?["plain"]?.integer ?? 0) > 0, "\(answer)")
      }
      try await host.start()
      try await sealed(host)
      let problems = try await host.json("status")["problems"]?.array ?? []
      #expect(problems.map { $0["kind"]?.string } == ["encryption"], "\(problems)")
      #expect(problems.first?["remedy"]?.string?.contains("taskhost store vacuum") == true)
      var (status, answer) = try await check(host)
      #expect(status == 1 && answer["sealed"]?["plain"]?.integer == 0, "\(answer)")
      #expect(try await host.json("tasks", "show", waiting)["payload"]?.string == "result 0;\(Self.marker)")
      try await host.terminate()
      let vacuum = try await host.cli("store", "vacuum")
      #expect(vacuum.status == 0, "\(vacuum.errors)")
      #expect(try plainFiles(host) == [])
      (status, answer) = try await check(host)
      #expect(status == 0 && answer["sealed"]?["no_plaintext_is_left"]?.bool == true, "\(answer)")
      try await host.start()
      #expect(try await host.json("status")["problems"]?.array == [])
      #expect(try await host.json("tasks", "show", waiting)["payload"]?.string == "result 0;\(Self.marker)")
      #expect(try plainFiles(host) == [])
    }
  }

  @Test("a new key rotates while the host runs, by reload and by SIGHUP, and the old one may then go", arguments: ["reload", "SIGHUP"])
  func rotation(_ way: String) async throws {
    try await prepare { host in
      let first = try await makeKey(host)
      try host.configure(Self.table)
      try await host.start()
      let waiting = try await fill(host)
      let second = try await makeKey(host)
      if way == "reload" { #expect(try await host.cli("reload").status == 0) } else { host.signal(SIGHUP) }
      try await host.current.line(with: "are sealed with the key \(second), and no other key is needed")
      let (status, answer) = try await check(host)
      #expect(status == 0 && answer["sealed"]?["key"]?.string == second, "\(answer)")
      #expect(answer["sealed"]?["sealed_with_earlier_keys"]?.integer == 0, "\(answer)")
      // Without the first key.
      let lines = try String(contentsOfFile: host.directory("store.key"), encoding: .utf8).split(separator: "\n")
      try host.directory.file("store.key", lines.filter { !$0.hasPrefix(first) }.joined(separator: "\n") + "\n")
      chmod(host.directory("store.key"), 0o600)
      #expect(try await host.cli("reload").status == 0)
      await host.kill()
      try await host.start()
      #expect(try await host.json("tasks", "show", waiting)["payload"]?.string == "result 0;\(Self.marker)")
      let log = host.current.lines.joined()
      #expect(!log.contains("AAAA") && !log.contains(String(lines.last?.split(separator: " ").last ?? "?")))
    }
  }

  @Test("a reload with a key file that is gone, open to others or without a needed key changes nothing")
  func refusedReload() async throws {
    try await prepare { host in
      let id = try await makeKey(host)
      try host.configure(Self.table)
      try await host.start()
      let waiting = try await fill(host)
      let text = try String(contentsOfFile: host.directory("store.key"), encoding: .utf8)
      unlink(host.directory("store.key"))
      var result = try await host.cli("reload")
      #expect(
        result.status != 0 && result.errors.contains("encryption.key_file") && result.errors.contains("does not exist"), "\(result.errors)")
      try await makeKey(host)
      result = try await host.cli("reload")
      #expect(result.status != 0 && result.errors.contains("sealed with the key \(id)"), "\(result.errors)")
      try host.directory.file("store.key", text)
      chmod(host.directory("store.key"), 0o644)
      result = try await host.cli("reload")
      #expect(result.status != 0 && result.errors.contains("chmod 600"), "\(result.errors)")
      #expect(try await host.json("tasks", "show", waiting)["payload"]?.string == "result 0;\(Self.marker)")
      _ = try await host.run("result 0")
      chmod(host.directory("store.key"), 0o600)
      #expect(try await host.cli("reload").status == 0)
    }
  }

  @Test("without its keys, a launch is refused with exit 78 and the name of the key; doctor and config check say so too")
  func withoutKeys() async throws {
    try await prepare { host in
      let id = try await makeKey(host)
      try host.configure(Self.table)
      try await host.start()
      _ = try await fill(host)
      try await host.terminate()
      try await makeKey(host, "other.key")
      for (configuration, word) in [
        ("", "there is no [encryption]"), (Self.table.replacingOccurrences(of: "store.key", with: "other.key"), "the key file has only"),
      ] {
        try host.configure(configuration + "\n")
        let failure = try await host.failure()
        #expect(failure.status == 78)
        #expect(failure.errors.contains("sealed with the key \(id)") && failure.errors.contains(word), "\(failure.errors)")
        let check = try await host.cli("config", "check")
        #expect(check.status == 78 && check.output.contains(id), "\(check.output)")
        #expect(try await host.cli("doctor", "--offline").output.contains(id))
        #expect(try await host.cli("store", "check").errors.contains(id))
        #expect(try await host.cli("store", "check", "--key-file", "store.key").status == 0)
      }
      for (text, mode, word) in [("", 0o600, "has no key"), ("x y\n", 0o600, "line 1"), ("x y\n", 0o640, "chmod 600")]
        as [(String, mode_t, String)]
      {
        try host.directory.file("bad.key", text)
        chmod(host.directory("bad.key"), mode)
        try host.configure(Self.table.replacingOccurrences(of: "store.key", with: "bad.key"))
        let failure = try await host.failure()
        #expect(
          failure.status == 78 && failure.errors.contains(word) && failure.errors.contains("encryption.key_file"), "\(failure.errors)")
        #expect(try await host.cli("config", "check").status == 78)
      }
      try host.configure("[encryption]\ncredential = \"store-key\"\n")
      let failure = try await host.failure()
      #expect(failure.status == 78 && failure.errors.contains("LoadCredential=store-key:FILE"), "\(failure.errors)")
    }
  }

  @Test("a credential of systemd has the keys")
  func credential() async throws {
    try await HostProcess.prepare(environment: ["CREDENTIALS_DIRECTORY": "/proc/self/cwd/credentials"]) { host in
      try await host.add("script.so", "script")
      mkdir(host.directory("credentials"), 0o700)
      try await makeKey(host, "credentials/store-key")
      try host.configure("[encryption]\ncredential = \"store-key\"\n")
      try await host.start()
      _ = try await fill(host)
      #expect(try plainFiles(host) == [])
    }
  }

  @Test("a damaged payload fails its request with the reason, and everything else goes on", arguments: ["flipped", "moved"])
  func damaged(_ kind: String) async throws {
    try await prepare { host in
      try await makeKey(host)
      try host.configure(Self.table)
      try await host.start()
      let ids = try await [host.submit("result 0", ["--after", "1h"]), host.submit("message \(Self.marker)", ["--after", "1h"])]
      let dependant = try await host.submit("result 0", ["--follows", ids[0]])
      try await host.terminate()
      let change =
        kind == "flipped"
        ? "sealed = CAST(substr(sealed, 1, 40) || x'00' || substr(sealed, 42) AS BLOB)"
        : "sealed = (SELECT sealed FROM payloads ORDER BY request LIMIT 1 OFFSET 1)"
      try await sql(host, "UPDATE payloads SET \(change) WHERE request = (SELECT min(request) FROM payloads)")
      try await host.start()
      let shown = try await host.cli("tasks", "show", ids[0])
      #expect(shown.status != 0 && shown.errors.contains("the payload of request \(ids[0]) is damaged"), "\(shown)")
      #expect(try await host.json("tasks", "list")["requests"]?.array.count == 3)
      _ = try await host.cli("tasks", "snooze", ids[0], "--for", "0s")
      _ = try await host.cli("simulate", "launch", "test.script")
      let failed = try await listed(host, ids[0], is: "failed")
      #expect(failed["last_message"]?.string?.contains("is damaged: its seal does not match") == true, "\(failed)")
      #expect(try await listed(host, dependant, is: "failed")["state"]?.string == "failed")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let problems = try await host.json("status")["problems"]?.array ?? []
      #expect(problems.contains { $0["kind"]?.string == "store_damaged" }, "\(problems)")
      let (status, answer) = try await check(host)
      #expect(status == 1 && answer["sealed"]?["damaged"]?.integer == 1, "\(answer)")
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("turned off in words, the store becomes plain again and needs no key")
  func turnedOff() async throws {
    try await prepare { host in
      try await makeKey(host)
      try host.configure(Self.table)
      try await host.start()
      let waiting = try await fill(host)
      try host.configure(Self.off)
      #expect(try await host.cli("reload").status == 0)
      try await host.current.line(with: "are plain again")
      #expect(try await host.json("status")["problems"]?.array == [])
      try host.configure("\n")
      #expect(try await host.cli("reload").status == 0)
      try await host.terminate()
      try await host.start()
      #expect(try await host.json("tasks", "show", waiting)["payload"]?.string == "result 0;\(Self.marker)")
      // And on again, while it runs.
      try host.configure(Self.table)
      #expect(try await host.cli("reload").status == 0)
      try await sealed(host)
      #expect(try await check(host).answer["sealed"]?["plain"]?.integer == 0)
    }
  }

  @Test("backups are sealed, exports are plain, and a restore needs the key")
  func copies() async throws {
    try await prepare { host in
      try await makeKey(host)
      try host.configure(Self.table)
      try await host.start()
      let waiting = try await fill(host)
      #expect(try await host.cli("store", "backup", "b.sqlite").status == 0)
      #expect(try Data(contentsOf: URL(filePath: host.directory("b.sqlite"))).range(of: Data(Self.marker.utf8)) == nil)
      #expect(try await host.cli("store", "export").output.contains(Self.marker))
      try await host.terminate()
      try await makeKey(host, "other.key")
      let refused = try await host.cli("store", "restore", "b.sqlite", "--key-file", "other.key")
      #expect(refused.status == 1 && refused.errors.contains("sealed with the key"), "\(refused.errors)")
      #expect(try await host.cli("store", "restore", "b.sqlite").status == 0)
      try await host.start()
      #expect(try await host.json("tasks", "show", waiting)["payload"]?.string == "result 0;\(Self.marker)")
    }
  }
}
