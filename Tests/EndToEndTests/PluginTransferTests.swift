import Foundation
import Glibc
import TestSupport
import Testing

/// Plugins that have files transferred, with real workers and a real server.
@Suite("Transfers of plugins", .timeLimit(.minutes(10)))
struct PluginTransferTests {
  private static let identifier = "test.transfers"

  /// A host with the transfers' plugin, two plugins that may transfer, and one that may not.
  private func withPlugins(
    network: String = "\"connect\"", inThread: Bool = false, _ body: (HostProcess, RangeServer) async throws -> Void
  ) async throws {
    let server = try await RangeServer.start()
    try await HostProcess.prepare { host in
      try host.directory.file(
        "plugins/libTransfers.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTransfers.so"))))
      for (name, identifier) in [("a.so", Self.identifier), ("b.so", "test.other"), ("c.so", "test.bare")] {
        try await host.add(name, "transfers", ["-DIDENTIFIER=\"\(identifier)\""])
      }
      try host.directory.folder("readable")
      try host.directory.file("readable/token", "secret-token")
      try host.directory.folder("own")
      try host.directory.file("own/token", "own-token")
      let entitlements = """
        [plugin."\(Self.identifier)".entitlements]
        network = \(network)
        read = ["\(host.directory("readable"))", "\(host.directory("own"))"]
        write = ["\(host.directory("shared"))"]

        """
      try host.configure(
        """
        [plugin."org.taskhost.transfers".entitlements]
        network = "connect"
        read = ["\(host.directory("readable"))"]

        [plugin."\(Self.identifier)"]
        may_transfer = true
        \(inThread ? "" : entitlements)
        [plugin."test.other"]
        may_transfer = true
        [plugin."test.other".entitlements]
        network = "connect"

        [plugin."test.bare".entitlements]
        network = "connect"

        """, threads: inThread ? [Self.identifier] : [])
      try await host.start()
      try await body(host, server)
    }
    await server.stop()
  }

  /// Runs the plugin, and returns its output.
  private func run(_ host: HostProcess, _ payload: String, _ identifier: String = Self.identifier) async throws -> JSON {
    try await host.submitAndWait(identifier, payload)["run"]?["output"] ?? JSON(parsing: "null")
  }

  private func submit(_ host: HostProcess, _ payload: String) async throws -> String {
    let answer = try await run(host, payload)
    guard answer["status"]?.integer == 0, let id = answer["text"]?.string else { throw TestFailure("not submitted: \(answer)") }
    return id
  }

  /// The outputs of the plugin's runs that were told of ended transfers.
  private func completions(_ host: HostProcess) async throws -> [JSON] {
    let runs = try await host.json("runs", "list", "--identifier", Self.identifier, "--limit", "1000")["runs"]?.array ?? []
    var found: [JSON] = []
    for run in runs {
      guard let id = run["id"]?.string, let output = try await host.json("runs", "show", id)["output"] else { continue }
      if output["transfer"] != nil { found.append(output) }
    }
    return found
  }

  @Test("a batch of downloads and an upload goes on over kill -9 of the host, and one run of the handler gets the report")
  func batch() async throws {
    try await withPlugins { host, server in
      let folder = try #require(try await run(host, "\"folder\"")["text"]?.string)
      #expect(folder == host.directory("state/transfers/\(Self.identifier)"))
      #expect(try await run(host, "\"write up hello\"")["text"]?.string == "done")
      let downloads = (0..<10).map { "{\"url\":\"\(server.address)/f\($0)?size=\(100_000 + $0)\",\"to\":\"f\($0)\"}" }
      let held = "{\"url\":\"\(server.address)/held?size=3000000&hold=1500000\",\"to\":\"held\",\"context\":\"mine\"}"
      let upload = "{\"url\":\"\(server.address)/up\",\"from\":\"up\",\"method\":\"POST\"}"
      let items = (downloads + [held, upload]).joined(separator: ",")
      let id = try await submit(host, "{\"items\":[\(items)],\"notify\":\"\(Self.identifier)\"}")
      try await host.progress(of: id, reaches: 11)
      await host.kill()
      _ = try await server.get("/release/held")
      try await host.start()
      try await host.request(id, is: "succeeded")
      let shown = try await host.json("transfers", "show", id)
      #expect(shown["done"]?.integer == 12 && shown["tags"]?.array.compactMap(\.string) == ["plugin:\(Self.identifier)"], "\(shown)")
      for index in 0..<10 {
        #expect(FileManager.default.contents(atPath: "\(folder)/f\(index)")?.count == 100_000 + index)
      }
      let whole = Data(try await server.get("/held?size=3000000"))
      #expect(FileManager.default.contents(atPath: "\(folder)/held") == whole)
      #expect(Data(try await server.get("/kept/up")) == Data("hello".utf8))
      let wakes = try await host.json("tasks", "list", "--identifier", Self.identifier, "--limit", "1000")["requests"]?.array ?? []
      let wake = try #require(wakes.first { $0["tags"]?.array.compactMap(\.string) == ["transfer:\(id)"] }?["id"]?.string)
      try await host.request(wake, is: "succeeded")
      let told = try await completions(host)
      #expect(told.count == 1 && told.first?["transfer"]?.string == id && told.first?["done"]?.integer == 12, "\(told)")
    }
  }

  @Test("a plugin pauses, resumes, lists, shows and cancels its own transfers, and no others")
  func changes() async throws {
    try await withPlugins { host, server in
      let id = try await submit(host, "{\"url\":\"\(server.address)/a?size=3000000&hold=1500000\",\"to\":\"a\"}")
      try await host.progress(of: id, reaches: 1_500_000)
      #expect(try await run(host, "\"pause \(id)\"")["status"]?.integer == 0)
      let record = try await host.request(id, is: "pending")
      #expect(record["paused"]?["by"]?.string == "plugin \(Self.identifier)" && record["attempts_spent"]?.integer == 0)
      let listed = try await run(host, "\"list\"")
      #expect(listed.array.compactMap { $0["id"]?.string } == [id], "\(listed)")
      for (word, status) in [("show", -8), ("pause", -8), ("resume", -8), ("cancel", -8)] {
        let answer = try await run(host, "\"\(word) \(id)\"", "test.other")
        #expect(answer["status"]?.integer == Int64(status), "\(word): \(answer)")
      }
      #expect(try await run(host, "\"list\"", "test.other").array.isEmpty)
      _ = try await server.get("/release/a")
      #expect(try await run(host, "\"resume \(id)\"")["status"]?.integer == 0)
      try await host.request(id, is: "succeeded")
      let shown = try await run(host, "\"show \(id)\"").array.first
      #expect(shown?["bytes"]?.integer == 3_000_000 && shown?["report"]?["done"]?.integer == 1, "\(String(describing: shown))")
      let late = try await submit(host, "{\"url\":\"\(server.address)/b?size=3000000&hold=1500000\",\"to\":\"b\"}")
      try await host.progress(of: late, reaches: 1_500_000)
      #expect(try await run(host, "\"cancel \(late)\"")["status"]?.integer == 0)
      try await host.request(late, is: "cancelled")
      let left = try FileManager.default.contentsOfDirectory(atPath: host.directory("state/transfers/\(Self.identifier)"))
      #expect(left == ["a"])
    }
  }

  @Test("a plugin reaches nothing through transfers that it could not reach itself")
  func authority() async throws {
    try await withPlugins { host, server in
      let url = "\(server.address)/a?size=10"
      for (payload, words) in [
        ("{\"url\":\"\(url)\",\"to\":\"../x\"}", "not the name of a file"), ("{\"url\":\"\(url)\",\"to\":\"/etc/x\"}", "not the name"),
        ("{\"url\":\"\(url)\",\"to\":\".x\"}", "not the name"), ("{\"url\":\"\(url)\",\"to\":\"\"}", "not the name"),
        ("{\"items\":[{\"url\":\"\(url)\",\"from\":\"a/b\"}]}", "not the name"), ("{\"url\":\"\(url)\",\"to\":1}", "a string is expected"),
        ("{\"url\":\"\(url)\",\"to\":\"a\",\"notify\":\"test.other\"}", "its own handler"),
        ("{\"url\":\"\(url)\",\"to\":\"a\",\"bearer_token_file\":\"/etc/shadow\"}", "may read and not write"),
        ("{\"url\":\"\(url)\",\"to\":\"a\",\"bearer_token_file\":\"\(host.directory("shared"))/x\"}", "may read and not write"),
        ("{\"url\":\"\(url)\",\"to\":\"a\",\"owner\":\"x\"}", "there is no member owner"), ("{\"items\":{}}", "a list is expected"),
      ] {
        let answer = try await run(host, payload)
        #expect((answer["status"]?.integer ?? 0) < 0 && answer["error"]?.string?.contains(words) == true, "\(payload): \(answer)")
      }
      let bare = try await run(host, "{\"url\":\"\(url)\",\"to\":\"a\"}", "test.bare")
      #expect(bare["status"]?.integer == -4 && bare["error"]?.string?.contains("set may_transfer = true") == true, "\(bare)")
      // What a token file has is sent, if the plugin may read it itself.
      let token = try await submit(host, "{\"url\":\"\(url)\",\"to\":\"a\",\"bearer_token_file\":\"\(host.directory("readable/token"))\"}")
      try await host.request(token, is: "succeeded")
      #expect(try await server.log().last { $0.path.hasPrefix("/a") }?.headers["Authorization"] == "Bearer secret-token")
      // A link in its folder leads the transfers' worker nowhere.
      try host.directory.file("readable/secret", "not for the plugin's server")
      #expect(try await run(host, "\"link out \(host.directory("readable/secret"))\"")["text"]?.string == "done")
      let linked = try await submit(host, "{\"url\":\"\(server.address)/stolen\",\"from\":\"out\"}")
      try await host.request(linked, within: .seconds(30)) {
        ["failed", "succeeded"].contains($0["state"]?.string) || $0["last_outcome"] != nil
      }
      #expect(try await !server.log().contains { $0.path == "/stolen" })
      // Nor does the folder of another plugin lead this one anywhere.
      let read = try await run(host, "\"read \(host.directory("state/transfers/\(Self.identifier)/a"))\"", "test.other")
      #expect(read["text"]?.string == "denied", "\(read)")
    }
  }

  @Test("a token that the plugin may read and the transfers' worker may not fails its transfer at once, with the remedy")
  func unreadableToken() async throws {
    try await withPlugins { host, server in
      let file = host.directory("own/token")
      let items = ["a", "b"].map { "{\"url\":\"\(server.address)/a?size=10\",\"to\":\"\($0)\"}" }.joined(separator: ",")
      let id = try await submit(host, "{\"items\":[\(items)],\"bearer_token_file\":\"\(file)\"}")
      try await host.request(id, is: "failed")
      let runs = try await host.runs(of: id)
      let problems = try await host.lastOutput(of: id)?["items"]?.array.compactMap { $0["problem"]?.string } ?? []
      let problem =
        "the access token in \(file) cannot be read: Permission denied: add its folder to read in "
        + "[plugin.\"org.taskhost.transfers\".entitlements], or, if it is there, change the file's mode or owner so that the worker can read it"
      #expect(runs.count == 1 && problems == [problem, problem], "\(problems)")
      #expect(try await !server.log().contains { $0.path.hasPrefix("/a") })
      #expect(try FileManager.default.contentsOfDirectory(atPath: host.directory("state/transfers/\(Self.identifier)")).isEmpty)
    }
  }

  @Test("a plugin in thread isolation transfers through its folder too; a token of the host's user is sent if the worker may read it")
  func threads() async throws {
    try await withPlugins(inThread: true) { host, server in
      #expect(try await host.plugin("a.so")["isolation"]?.string == "thread")
      let folder = try #require(try await run(host, "\"folder\"")["text"]?.string)
      #expect(folder == host.directory("state/transfers/\(Self.identifier)"))
      #expect(try await run(host, "\"write up hello\"")["text"]?.string == "done")
      let items = "{\"url\":\"\(server.address)/a?size=1000\",\"to\":\"a\"},{\"url\":\"\(server.address)/up\",\"from\":\"up\"}"
      let rest = "\"notify\":\"\(Self.identifier)\",\"bearer_token_file\":\"\(host.directory("readable/token"))\""
      let id = try await submit(host, "{\"items\":[\(items)],\(rest)}")
      try await host.request(id, is: "succeeded")
      #expect(FileManager.default.contents(atPath: folder + "/a") == Data(try await server.get("/a?size=1000")))
      #expect(Data(try await server.get("/kept/up")) == Data("hello".utf8))
      #expect(try await server.log().first { $0.path.hasPrefix("/a") }?.headers["Authorization"] == "Bearer secret-token")
      let wakes = try await host.json("tasks", "list", "--identifier", Self.identifier, "--limit", "1000")["requests"]?.array ?? []
      let wake = try #require(wakes.first { $0["tags"]?.array.compactMap(\.string) == ["transfer:\(id)"] }?["id"]?.string)
      try await host.request(wake, is: "succeeded")
      #expect(try await completions(host).map { $0["transfer"]?.string } == [id])
      // It names no paths either, and its token has to be one that the transfers' worker may read.
      let refused = try await run(host, "{\"url\":\"\(server.address)/b\",\"to\":\"/etc/x\"}")
      #expect(refused["error"]?.string?.contains("not the name of a file") == true, "\(refused)")
      let unreadable = try await submit(
        host, "{\"url\":\"\(server.address)/b\",\"to\":\"b\",\"bearer_token_file\":\"\(host.directory("own/token"))\"}")
      try await host.request(unreadable, is: "failed")
    }
  }

  @Test("the ports of the plugin's own entitlement bound its transfers")
  func ports() async throws {
    try await withPlugins(network: "[443]") { host, server in
      let refused = try await run(host, "{\"url\":\"\(server.address)/a?size=10\",\"to\":\"a\"}")
      #expect(refused["status"]?.integer == -4 && refused["error"]?.string?.contains("at no port") == true, "\(refused)")
    }
  }
}
