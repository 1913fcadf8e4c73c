import Foundation
import Glibc
import TestSupport
import Testing

/// The transfers plugin in a worker, with a server of its own.
@Suite("Transfers", .timeLimit(.minutes(20)))
struct TransferTests {
  @Test("a download appears under its name when it is whole, with nothing beside it")
  func download() async throws {
    try await TransferSurroundings.run { at in
      let result = try await at.transfer("\(at.server.address)/a?size=1000000", "--to", at.file("a"))
      #expect(result.status == 0 && result.output.contains("\"bytes\":1000000"), "\(result)")
      try await at.expectContent("a", of: "/a?size=1000000")
      let empty = try await at.transfer("\(at.server.address)/empty?size=0", "--to", at.file("empty"))
      #expect(empty.status == 0, "\(empty)")
      #expect(try at.names() == ["a", "empty"])
    }
  }

  @Test("a connection that breaks is taken up where it broke, if the content is still the same")
  func resumed() async throws {
    try await TransferSurroundings.run { at in
      let result = try await at.transfer("\(at.server.address)/a?size=1000000&cut=400000", "--to", at.file("a"))
      #expect(result.status == 0, "\(result)")
      try await at.expectContent("a", of: "/a?size=1000000")
      let ranges = try await at.server.log().filter { $0.path.hasPrefix("/a?size=1000000&cut") }.map { $0.headers["Range"] }
      #expect(ranges == [nil, "bytes=400000-"])
      #expect(try at.names() == ["a"])
    }
  }

  @Test(
    "a server without strong validators, ranges or the right range is asked for everything again",
    arguments: ["etag=no", "etag=weak", "ranges=no", "wrong=range"])
  func restarted(_ habit: String) async throws {
    try await TransferSurroundings.run { at in
      let result = try await at.transfer("\(at.server.address)/a?size=300000&cut=100000&\(habit)", "--to", at.file("a"))
      #expect(result.status == 0, "\(habit): \(result)")
      try await at.expectContent("a", of: "/a?size=300000")
      #expect(try at.names() == ["a"])
    }
  }

  @Test("kill -9 of the host in the middle of a download loses nothing: the next host asks for the rest")
  func killed() async throws {
    try await TransferSurroundings.run { at in
      let url = "\(at.server.address)/a?size=3000000&hold=1500000"
      let submitted = try await at.host.cli("transfers", "submit", url, "--to", at.file("a"))
      let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await at.host.progress(of: id, reaches: 1_500_000)
      await at.host.kill()
      let left = try at.names()
      #expect(left.count == 2 && left.allSatisfy { $0.hasPrefix(".a.") } && !left.contains("a"), "\(left)")
      _ = try await at.server.get("/release/a")
      try await at.host.start()
      try await at.host.request(id, is: "succeeded")
      try await at.expectContent("a", of: "/a?size=3000000")
      #expect(try at.names() == ["a"])
      let last = try await at.server.log().last { $0.path.hasPrefix("/a?size=3000000&hold") }
      #expect(last?.headers["Range"] == "bytes=1500000-" && last?.headers["If-Range"] == "\"1\"")
    }
  }

  @Test("a download that is given another target after kill -9 leaves nothing beside the old one")
  func retargeted() async throws {
    try await TransferSurroundings.run { at in
      let url = "\(at.server.address)/a?size=3000000&hold=1500000"
      func order(_ target: String) -> String {
        let items = [("\(at.server.address)/small?size=10", "small"), (url, target)].map { url, name in
          "{\"url\": \"\(url)\", \"to\": \"\(at.file(name))\"}"
        }
        let payload = "{\"at_once\": 1, \"items\": [\(items.joined(separator: ", "))]}"
        return "{\"unique_key\": \"k\", \"on_conflict\": \"update\", \"payload\": \(payload)}"
      }
      let id = try #require(try await at.host.post("/v1/transfers", order("old")).json()["id"]?.string)
      try await at.server.waitForRequests("a", 1)
      _ = try await at.host.cli("pause", "identifier:org.taskhost.transfers")
      await at.host.kill()
      let left = try at.names()
      #expect(left.contains { $0.hasPrefix(".old.") } && !left.contains("old"), "\(left)")
      _ = try await at.server.get("/release/a")
      try await at.host.start()
      let updated = try await at.host.post("/v1/transfers", order("new")).json()
      #expect(updated["id"]?.string == id && updated["disposition"]?.string == "updated", "\(updated)")
      _ = try await at.host.cli("resume", "identifier:org.taskhost.transfers")
      try await at.host.request(id, is: "succeeded")
      #expect(try at.names() == ["new", "small"])
      try await at.expectContent("new", of: "/a?size=3000000")
    }
  }

  @Test("two downloads to one target have a part each, and the target is one of them, whole")
  func sameTarget() async throws {
    try await TransferSurroundings.run { at in
      var ids: [String] = []
      for name in ["one", "two"] {
        let submitted = try await at.host.cli(
          "transfers", "submit", "\(at.server.address)/\(name)?size=2000000&hold=1000000", "--to", at.file("a"))
        ids.append(submitted.output.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      for id in ids { try await at.host.progress(of: id, reaches: 1_000_000) }
      #expect(try at.names().count == 4, "a part and a note each")
      for name in ["one", "two"] { _ = try await at.server.get("/release/\(name)") }
      for id in ids { try await at.host.request(id, is: "succeeded") }
      let found = FileManager.default.contents(atPath: at.file("a"))
      let wanted = [try await at.server.get("/one?size=2000000"), try await at.server.get("/two?size=2000000")].map { Data($0) }
      #expect(wanted.contains { $0 == found })
      #expect(try at.names() == ["a"])
    }
  }

  @Test("a cancelled download leaves nothing; a shutdown keeps what has arrived")
  func stopped() async throws {
    try await TransferSurroundings.run("drain_timeout = \"0s\"") { at in
      for name in ["cancelled", "kept"] {
        let url = "\(at.server.address)/\(name)?size=3000000&hold=1500000"
        let submitted = try await at.host.cli("transfers", "submit", url, "--to", at.file(name))
        let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
        try await at.host.progress(of: id, reaches: 1_500_000)
        if name == "cancelled" {
          _ = try await at.host.cli("transfers", "cancel", id)
          try await at.host.request(id, is: "cancelled")
          #expect(try at.names() == [])
        }
      }
      try await at.host.terminate()
      let left = try at.names()
      #expect(left.count == 2 && left.allSatisfy { $0.hasPrefix(".kept.") }, "\(left)")
    }
  }

  @Test("temporary answers are tried again, with the server's delay; others fail for good")
  func statuses() async throws {
    try await TransferSurroundings.run { at in
      let busy = try await at.transfer("\(at.server.address)/busy?size=10&status=503&times=2&retry=0", "--to", at.file("busy"))
      #expect(busy.status == 0 && busy.errors.contains("the server answered 503"), "\(busy)")
      let gone = try await at.transfer("\(at.server.address)/gone", "--to", at.file("gone"))
      #expect(gone.status == 1 && gone.output.contains("the server answered 404"), "\(gone)")
      let nobody = try await at.transfer("http://127.0.0.1:1/x", "--to", at.file("x"))
      #expect(nobody.status == 1 && nobody.output.contains("no connection could be made"), "\(nobody)")
      #expect(try at.names() == ["busy"])
    }
  }

  @Test("a checksum that differs is no success, and leaves nothing")
  func checksum() async throws {
    try await TransferSurroundings.run { at in
      let url = "\(at.server.address)/a?size=100000"
      let wrong = try await at.transfer(url, "--to", at.file("a"), "--sha256", String(repeating: "0", count: 64))
      #expect(wrong.status == 1 && wrong.output.contains("the content has the SHA-256"), "\(wrong)")
      #expect(try at.names() == [])
      let digest = wrong.output.split(separator: "SHA-256 ").dropFirst().first?.prefix(64) ?? ""
      let right = try await at.transfer(url, "--to", at.file("a"), "--sha256", String(digest))
      #expect(right.status == 0, "\(right)")
    }
  }

  @Test("an upload sends the file, with headers and a token that is read from a file; redirects are followed")
  func upload() async throws {
    try await TransferSurroundings.run { at in
      try at.host.directory.file("files/report", "the report")
      try at.host.directory.file("files/token", #"{"access_token": "abc.def", "refresh_token": "secret"}"#)
      let sent = try await at.transfer(
        "--from", at.file("report"), "\(at.server.address)/inbox/report?status=502&times=1", "--header", "X-Kind: report",
        "--bearer-token-file", at.file("token"))
      #expect(sent.status == 0 && sent.output.contains("10 bytes"), "\(sent)")
      let kept = Data(try await at.server.get("/kept/inbox/report"))
      #expect(kept == Data("the report".utf8))
      let last = try await at.server.log().last { $0.path.hasPrefix("/inbox") }
      #expect(last?.method == "PUT" && last?.headers["X-Kind"] == "report" && last?.headers["Authorization"] == "Bearer abc.def")
      let redirected = try await at.transfer("\(at.server.address)/redirect?to=/a%3Fsize%3D5000", "--to", at.file("a"))
      #expect(redirected.status == 0, "\(redirected)")
      try await at.expectContent("a", of: "/a?size=5000")
    }
  }

  @Test("a batch of 200 wakes one run of a handler with its report, and what failed is named")
  func batch() async throws {
    try await TransferSurroundings.run(
      "[plugin.\"org.taskhost.transfers\"]\nmay_submit = [\"woken\"]\n[command.woken]\nrun = [\"cat\"]\nstdout = \"output\""
    ) { at in
      var items = (0..<200).map { "{\"url\": \"\(at.server.address)/f\($0)?size=5000\", \"to\": \"\(at.file("f\($0)"))\"}" }
      items.append("{\"url\": \"\(at.server.address)/missing\", \"to\": \"\(at.file("missing"))\"}")
      let result = try await at.batch("{\"items\": [\(items.joined(separator: ",\n"))], \"at_once\": 50, \"notify\": \"woken\"}")
      #expect(
        result.status == 1 && result.output.contains("200 of 201 done, 1 failed: the server answered 404"), "\(result.output.prefix(500))")
      #expect(try at.names().count == 200)
      let woken = try #require(try await at.host.json("tasks", "list", "--identifier", "woken")["requests"]?.array.first?["id"]?.string)
      try await at.host.request(woken, is: "succeeded")
      let report = try await at.host.lastOutput(of: woken)
      #expect(report?["done"]?.integer == 200 && report?["failed"]?.integer == 1, "\(report as Any)")
    }
  }

  @Test("what it may not write or reach fails with what to do")
  func unreachable() async throws {
    try await TransferSurroundings.run { at in
      let outside = try await at.transfer("\(at.server.address)/a?size=5", "--to", at.host.directory("elsewhere"))
      #expect(outside.status == 1 && outside.output.contains("entitle the plugin to that directory"), "\(outside)")
    }
  }

  @Test("what no transfer can come of is refused when it is submitted, by the command line, over HTTP and to plugins alike")
  func refused() async throws {
    try await TransferSurroundings.run { at in
      let lines = """
        {"items": [
          {"url": "ftp://x/y", "to": "/a"},
          {"url": "http://x/y"},
          {"url": "http://x",
           "to": "b", "sha256": "12"}],
         "atonce": 3}
        """
      let wrong = try await at.batch(lines)
      #expect(wrong.status == 2 && wrong.output.isEmpty, "\(wrong)")
      for words in [
        "line 2: items[0].url: must begin with https", "line 3: items[1]: has neither", "line 5: items[2].to: must be the absolute path",
        "line 5: items[2].sha256", "unknown key \"atonce\"",
      ] { #expect(wrong.errors.contains(words), "\(words): \(wrong)") }
      let broken = try await at.batch("{\n\"items\": [\n")
      #expect(broken.status == 2 && broken.errors.contains("line 3"), "\(broken)")
      try at.host.directory.folder("files/folder")
      for (arguments, words) in [
        (["http://x/y"], "--to for a download"), (["--to", "a"], "Name the address"),
        (["http://x", "--to", "a", "--from", "b"], "one file"),
        (["http://x", "--list", "c"], "--list has the whole batch"), (["--list", "c", "--header", "a: b"], "--list has the whole batch"),
        (["ftp://x", "--to", "a"], "url: must begin with https"), (["http://u:p@x", "--to", "a"], "url: has a user"),
        (["http://x:99999", "--to", "a"], "url: has no port"), (["http://x", "--to", "a", "--method", "PUT"], "--method: is for uploads"),
        (["http://x", "--to", "a", "--sha256", "12"], "--sha256: must be 64"),
        (["http://x", "--to", "a", "--header", "a b: c"], "--header a b"),
        (["http://x", "--to", "a", "--header", "a: b", "--header", "A: c"], "--header A is given twice"),
        (["http://x", "--to", "a", "--notify", "-"], "--notify: identifier"), (["http://x", "--to", at.file("folder")], "is a directory"),
      ] as [([String], String)] {
        let usage = try await at.host.cli(["transfers", "submit"] + arguments)
        #expect(usage.status == 2 && usage.errors.contains(words), "\(arguments): \(usage)")
      }
      let client = try SocketClient(at.host.socket, limit: .seconds(30))
      for path in ["transfers", "requests"] {
        for (payload, words) in [
          (#"{"url": "ftp://x", "to": "b"}"#, "url: must begin with"), (#"{"url": "ftp://x", "to": "b"}"#, "to: must be the absolute path"),
          ("{}", "url: is missing"), ("[1]", "must be an object"),
          (#"{"url": "http://x", "to": "/b", "notify": ".."}"#, "notify: identifier"),
        ] {
          let answer = try client.request(
            "POST", "/v1/\(path)", body: "{\"identifier\": \"org.taskhost.transfers\", \"payload\": \(payload)}")
          let error = try answer.json()["error"]
          #expect(answer.status == 400 && error?["field"]?.string == "payload", "\(path) \(payload): \(answer)")
          #expect(error?["message"]?.string?.contains(words) == true, "\(path) \(payload): \(answer)")
        }
      }
      let none = try await at.host.cli("submit", "org.taskhost.transfers")
      #expect(none.status == 6 && none.errors.contains("it is missing"), "\(none)")
      #expect(try await at.host.json("transfers", "list")["transfers"]?.array.isEmpty == true)
    }
  }
}
