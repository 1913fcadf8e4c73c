import Foundation
import Glibc
import TestSupport
import Testing

/// What happens to the files of transfers while these proceed, and when the disk or somebody else gets in the way.
@Suite("Files of transfers", .timeLimit(.minutes(10)))
struct TransferFileTests {
  /// Runs the worker with a system call that fails.
  private static func withFailing(_ call: String, _ body: (TransferSurroundings) async throws -> Void) async throws {
    let directory = try TestDirectory()
    let strace = "strace -D -f -o /dev/null -e trace=\(call) -e inject=\(call):error=EIO:when=1"
    let script = "#!/bin/sh\nexec \(strace) \(try BuiltProgram.worker) \"$@\"\n"
    let worker = try directory.file("worker", Data(script.utf8), mode: 0o755)
    try await TransferSurroundings.run("launch_budget = \"30s\"", environment: ["TASKHOST_WORKER": worker], body)
  }

  private static let hasStrace = FileManager.default.isExecutableFile(atPath: "/usr/bin/strace")

  @Test("a sync of a part that fails costs the part: nobody knows what is on the disk", .enabled(if: hasStrace))
  func partNotSynced() async throws {
    try await Self.withFailing("fdatasync") { at in
      let result = try await at.transfer("\(at.server.address)/a?size=1000000&cut=400000", "--to", at.file("a"))
      #expect(result.status == 0, "\(result)")
      try await at.expectContent("a", of: "/a?size=1000000")
      #expect(try await at.server.requests("a").prefix(2).map { $0.headers["Range"] } == [nil, nil])
      #expect(try at.names() == ["a"])
    }
  }

  @Test("a whole file that cannot be synced does not take its target's place", .enabled(if: hasStrace))
  func wholeNotSynced() async throws {
    try await Self.withFailing("fsync") { at in
      try at.host.directory.file("files/a", "old")
      let result = try await at.transfer("\(at.server.address)/a?size=1000", "--to", at.file("a"))
      #expect(result.status == 0 && result.errors.contains("cannot sync"), "\(result)")
      #expect(try await at.server.requests("a").filter { $0.headers["Accept-Encoding"] != nil }.count == 2)
      try await at.expectContent("a", of: "/a?size=1000")
      #expect(try at.names() == ["a"])
    }
  }

  @Test("a disk that fills up in the middle of a file keeps the part, and the rest comes when there is room", .enabled(if: geteuid() == 0))
  func full() async throws {
    try await TransferSurroundings.run("[retry]\ninitial = \"100ms\"\nmaximum = \"200ms\"\nattempts = 100", mounting: "size=1m") { at in
      let submitted = try await at.host.cli("transfers", "submit", "\(at.server.address)/a?size=3000000", "--to", at.file("a"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await at.server.waitForRequests("a", 2)
      let mounted = try await Program.run("/usr/bin/mount", ["-o", "remount,size=20m", at.host.directory("files")])
      try #require(mounted.status == 0, "\(mounted)")
      try await at.host.request(id, is: "succeeded")
      try await at.expectContent("a", of: "/a?size=3000000")
      let ranges = try await at.server.requests("a").compactMap { $0.headers["Range"] }
      #expect(ranges.contains { $0.hasPrefix("bytes=10") }, "\(ranges)")
      let messages = try await at.host.json("runs", "list", "--request", id)["runs"]?.array.compactMap { $0["message"]?.string } ?? []
      #expect(messages.contains { $0.contains("No space left on device") }, "\(messages)")
    }
  }

  @Test("a folder that is removed in the middle of a download, or a target that becomes one, is no place for a file")
  func removed() async throws {
    try await TransferSurroundings.run { at in
      for name in ["removed", "folder"] {
        try at.host.directory.folder("files/sub")
        let url = "\(at.server.address)/\(name)?size=300000&hold=100000"
        let submitted = try await at.host.cli("transfers", "submit", url, "--to", at.file("sub/\(name)"))
        let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try await at.host.progress(of: id, reaches: 100_000)
        if name == "removed" {
          try FileManager.default.removeItem(atPath: at.file("sub"))
        } else {
          try at.host.directory.folder("files/sub/folder")
        }
        _ = try await at.server.get("/release/\(name)")
        try await at.host.request(id, is: "failed")
        let output = try await at.host.lastOutput(of: id)
        let problem = output?["items"]?.array.first?["problem"]?.string ?? ""
        #expect(problem.contains(name == "removed" ? "No such file or directory" : "Is a directory"), "\(problem)")
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: at.file("sub")) == ["folder"])
    }
  }

  @Test("a target that somebody writes meanwhile is replaced; a part that somebody replaces never is the target")
  func replaced() async throws {
    try await TransferSurroundings.run { at in
      let submitted = try await at.host.cli(
        "transfers", "submit", "\(at.server.address)/a?size=300000&hold=100000", "--to", at.file("a"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await at.host.progress(of: id, reaches: 100_000)
      try at.host.directory.file("files/a", "somebody's")
      let part = try #require(try at.names().first { $0.hasSuffix(".part") })
      try FileManager.default.removeItem(atPath: at.file(part))
      try at.host.directory.file("files/\(part)", "somebody's part")
      _ = try await at.server.get("/release/a")
      try await at.host.request(id, is: "succeeded")
      try await at.expectContent("a", of: "/a?size=300000")
      #expect(try at.names() == ["a"])
    }
  }

  @Test("a file that changes while it is sent is sent once more")
  func changedUpload() async throws {
    try await TransferSurroundings.run { at in
      try at.host.directory.file("files/report", "first")
      let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
      let submitted = try await at.host.cli(
        "transfers", "submit", "--from", at.file("report"), at.server.answering("inbox", "<hold>" + ok, ok))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      // Until the whole body is there: a file that changes before it is sent is not sent at all.
      try await at.server.waitForRequests("inbox/body", 1)
      try at.host.directory.file("files/report", "second one")
      _ = try await at.server.get("/release/inbox")
      try await at.host.request(id, is: "succeeded")
      #expect(try await at.server.requests("inbox").map(\.body) == [5, 10])
    }
  }

  @Test("a batch that is cancelled leaves no part: not of what waits, nor of what has not run since")
  func cancelled() async throws {
    try await TransferSurroundings.run { at in
      // The first breaks and waits, the second is held.
      let items = ["cut=1000", "hold=1000"].enumerated().map {
        "{\"url\": \"\(at.server.address)/f\($0)?size=300000&\($1)\", \"to\": \"\(at.file("f\($0)"))\"}"
      }
      try at.host.directory.file("batch.json", "{\"items\": [\(items.joined(separator: ","))], \"at_once\": 1}")
      let submitted = try await at.host.cli("transfers", "submit", "--list", at.host.directory("batch.json"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await at.server.waitForRequests("f1", 1)
      _ = try await at.host.cli("transfers", "cancel", id)
      try await at.host.request(id, is: "cancelled")
      #expect(try at.names() == [])
    }
    try await TransferSurroundings.run("[retry]\ninitial = \"1h\"") { at in
      // The second time, the worker has just looked for what was left.
      for (left, next, whole) in [("a", "b", ["b"]), ("c", "d", ["b", "d"])] {
        let url = "\(at.server.address)/\(left)?size=300000&cut=1000"
        let submitted = try await at.host.cli("transfers", "submit", url, "--to", at.file(left))
        let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
        _ = try await at.host.request(id) { $0["state"]?.string == "pending" && $0["last_outcome"]?.string == "retried" }
        #expect(try at.names().filter { $0.hasPrefix(".\(left).") }.count == 2)
        _ = try await at.host.cli("transfers", "cancel", id)
        try await at.host.request(id, is: "cancelled")
        try await at.host.request(at.sweep(after: id), is: "succeeded")
        #expect(try at.names().filter { $0.hasPrefix(".") } == [])
        let other = try await at.transfer("\(at.server.address)/\(next)?size=10", "--to", at.file(next))
        #expect(other.status == 0, "\(other)")
        #expect(try at.names() == whole)
      }
    }
  }

  @Test("a dead letter keeps its part until it is discarded; a host that was killed with a cancelled transfer sweeps at its launch")
  func swept() async throws {
    try await TransferSurroundings.run("[retry]\nattempts = 1") { at in
      let submitted = try await at.host.cli("transfers", "submit", "\(at.server.address)/a?size=300000&cut=1000", "--to", at.file("a"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await at.host.request(id, is: "failed")
      #expect(try at.names().count == 2)
      _ = try await at.host.cli("tasks", "discard", id)
      try await at.host.request(at.sweep(after: id), is: "succeeded")
      #expect(try at.names() == [])
      #expect(try await at.host.json("transfers", "list")["transfers"]?.array.count == 1, "sweeps are not shown")

      let held = try await at.host.cli("transfers", "submit", "\(at.server.address)/b?size=300000&hold=100000", "--to", at.file("b"))
      let second = held.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await at.server.waitForRequests("b", 1)
      _ = try await at.host.cli("pause", "identifier:org.taskhost.transfers")
      await at.host.kill()
      #expect(try at.names().contains { $0.hasPrefix(".b.") })
      try await at.host.start()
      _ = try await at.host.cli("transfers", "cancel", second)
      _ = try await at.host.cli("resume", "identifier:org.taskhost.transfers")
      try await at.host.request(at.sweep(after: second), is: "succeeded")
      #expect(try at.names() == [])
    }
  }

  @Test("a transfer in backoff for want of a token is tried again when the token's file appears, also after a restart of the host")
  func awaitedToken() async throws {
    try await TransferSurroundings.run("[retry]\ninitial = \"1h\"") { at in
      for isRestarted in [false, true] {
        let name = "f\(isRestarted)"
        let submitted = try await at.host.cli(
          "transfers", "submit", "\(at.server.address)/\(name)?size=10", "--to", at.file(name), "--bearer-token-file", at.file("t\(name)"))
        let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
        let waiting = try await at.host.request(id) { $0["state"]?.string == "pending" && $0["last_outcome"]?.string == "retried" }
        #expect(waiting["last_message"]?.string?.contains("cannot be read") == true, "\(waiting)")
        if isRestarted {
          _ = try await at.host.terminate()
          try await at.host.start()
        }
        let why = try await at.host.cli("tasks", "why", id)
        #expect(why.output.contains("unless \(at.file("t\(name)")) changes"), "\(why)")
        try at.host.directory.file("files/other", "x")
        try at.host.directory.file("files/t\(name)", "fresh")
        try await at.host.request(id, is: "succeeded")
        #expect(try await at.server.requests(name).map { $0.headers["Authorization"] } == ["Bearer fresh"])
        #expect(try await at.host.runs(of: id).count == 2)
      }
    }
  }

  /// A transfer whose first token is refused, until its file has another one.
  private static func refused(_ at: TransferSurroundings, isReplaced: Bool) async throws {
    try at.host.directory.file("files/token", "old")
    let submitted = try await at.host.cli(
      "transfers", "submit", "\(at.server.address)/a?size=10&status=401&times=1", "--to", at.file("a"), "--bearer-token-file",
      at.file("token"))
    let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
    try await at.server.waitForRequests("a", 1)
    // Other files of the folder, and a file without a token, say nothing.
    try at.host.directory.file("files/other", "x")
    try at.host.directory.file("files/token", "")
    if isReplaced {
      try at.host.directory.file("files/token.new", "fresh")
      try #require(rename(at.file("token.new"), at.file("token")) == 0)
    } else {
      try at.host.directory.file("files/token", "fresh")
    }
    try await at.host.request(id, is: "succeeded")
    #expect(try await at.server.requests("a").map { $0.headers["Authorization"] } == ["Bearer old", "Bearer fresh"])
    #expect(try await at.host.json("runs", "list", "--request", id)["runs"]?.array.count == 1)
  }

  @Test("a token that is refused is read again as soon as its file is written or replaced, in the same run", arguments: [false, true])
  func token(_ isReplaced: Bool) async throws {
    try await TransferSurroundings.run { at in try await Self.refused(at, isReplaced: isReplaced) }
  }

  @Test("a token is read again too where its folder cannot be watched", .enabled(if: hasStrace))
  func unwatchedToken() async throws {
    try await Self.withFailing("inotify_add_watch") { at in try await Self.refused(at, isReplaced: true) }
  }

  @Test("a token file that is not there yet is waited for; what can never be one fails the transfer at once")
  func tokenFiles() async throws {
    try await TransferSurroundings.run("[retry]\ninitial = \"100ms\"\nmaximum = \"200ms\"\nattempts = 1000") { at in
      // The command line refuses a folder; what a list says, only the run finds out.
      func submit(_ token: String) async throws -> String {
        let item = "{\"url\": \"\(at.server.address)/a?size=10\", \"to\": \"\(at.file("a"))\"}"
        try at.host.directory.file("batch.json", "{\"items\": [\(item)], \"bearer_token_file\": \"\(at.file(token))\"}")
        let result = try await at.host.cli("transfers", "submit", "--list", at.host.directory("batch.json"))
        try #require(result.status == 0, "\(result)")
        return result.output.trimmingCharacters(in: .whitespacesAndNewlines)
      }
      let id = try await submit("late")
      let waiting = try await at.host.request(id) { $0["last_outcome"]?.string == "retried" }
      #expect(waiting["last_message"]?.string?.contains("late cannot be read: No such file or directory") == true, "\(waiting)")
      try at.host.directory.file("files/late", "new")
      try await at.host.request(id, is: "succeeded")
      #expect(try await at.server.requests("a").map { $0.headers["Authorization"] } == ["Bearer new"])
      try at.host.directory.folder("files/folder")
      try FileManager.default.createSymbolicLink(atPath: at.file("link"), withDestinationPath: at.file("late"))
      try #require(mkfifo(at.file("pipe"), 0o600) == 0)
      try at.host.directory.file("files/large", String(repeating: "a", count: 2_000_000))
      try at.host.directory.file("files/lines", "one\ntwo\n")
      let never = [
        ("folder", "Is a directory: name a file"), ("link", "name the file that the link leads to"),
        ("pipe", "pipe cannot be read: Not an ordinary file: name a file"),
        ("late/token", "late/token cannot be read: Not a directory: name"),
        ("large", "large cannot be read: File too large: it has more than 320 KiB"),
        ("lines", "lines has 2 lines where a token is one line"),
      ]
      for (name, words) in never {
        let id = try await submit(name)
        let failed = try await at.host.request(id, is: "failed")
        #expect(failed["last_message"]?.string?.contains(words) == true, "\(failed)")
        #expect(try await at.host.runs(of: id).count == 1)
      }
    }
  }
}
