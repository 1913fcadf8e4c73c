import Foundation
import Glibc
import TestSupport
import Testing

/// Whom the host tells how a transfer has ended, and who may hold one back.
@Suite("Ends of plugins' transfers", .timeLimit(.minutes(10)))
struct PluginTransferEndTests {
  private static let identifier = "test.transfers"

  /// A host with the transfers' plugin, a plugin that may transfer, and one that may submit to the transfers' plugin.
  private func withPlugins(_ body: (HostProcess, RangeServer) async throws -> Void) async throws {
    let server = try await RangeServer.start()
    try await HostProcess.prepare { host in
      try host.directory.file(
        "plugins/libTransfers.so", try Data(contentsOf: URL(filePath: try BuiltProgram.besideTaskhost("libTransfers.so"))))
      for (name, identifier) in [("a.so", Self.identifier), ("b.so", "test.deputy")] {
        try await host.add(name, "transfers", ["-DIDENTIFIER=\"\(identifier)\""])
      }
      try host.directory.folder("files")
      try host.configure(
        """
        [retry]
        attempts = 2
        initial = "100ms"
        maximum = "200ms"
        [plugin."org.taskhost.transfers".entitlements]
        network = "connect"
        write = ["\(host.directory("files"))"]
        [plugin."\(Self.identifier)"]
        may_transfer = true
        [plugin."\(Self.identifier)".entitlements]
        network = "connect"
        [plugin."test.deputy"]
        may_submit = ["org.taskhost.transfers"]

        """)
      try await host.start()
      try await body(host, server)
    }
    await server.stop()
  }

  private func run(_ host: HostProcess, _ payload: String, _ identifier: String = Self.identifier) async throws -> JSON {
    try await host.submitAndWait(identifier, payload)["run"]?["output"] ?? JSON(parsing: "null")
  }

  private func submit(_ host: HostProcess, _ payload: String, _ identifier: String = Self.identifier) async throws -> String {
    let answer = try await run(host, payload, identifier)
    guard answer["status"]?.integer == 0, let id = answer["text"]?.string else { throw TestFailure("not submitted: \(answer)") }
    return id
  }

  /// The reports of a transfer's end that runs of the plugin got, once all have ended.
  private func told(_ host: HostProcess, of id: String) async throws -> [JSON] {
    var found: [JSON] = []
    let wakes = try await host.json("tasks", "list", "--tag", "transfer:\(id)", "--limit", "100")["requests"]?.array ?? []
    for wake in wakes {
      guard let wake = wake["id"]?.string else { continue }
      try await host.request(wake, is: "succeeded")
      guard let run = try await host.runs(of: wake).first?["id"]?.string else { throw TestFailure("\(wake) has no run") }
      found.append(try await host.json("runs", "show", run)["output"] ?? JSON(parsing: "null"))
    }
    return found
  }

  private func expectNoProblem(_ host: HostProcess, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let failed = try await host.json("tasks", "list", "--state", "failed")["requests"]?.array ?? []
    #expect(failed.isEmpty, "\(failed)", sourceLocation: sourceLocation)
  }

  @Test("a batch that failed, or whose attempts are spent, is told to its plugin once, and is not a dead letter")
  func failures() async throws {
    try await withPlugins { host, server in
      for (path, done, failed, waiting) in [("a?size=5&status=404", 0, 1, 0), ("a?size=5&status=503&times=9", 0, 0, 1)]
        as [(String, Int64, Int64, Int64)]
      {
        let id = try await submit(host, "{\"url\":\"\(server.address)/\(path)\",\"to\":\"a\",\"notify\":true}")
        let record = try await host.request(id, is: "cancelled")
        #expect(record["last_message"]?.string?.hasSuffix("; \(Self.identifier) was told") == true, "\(record)")
        let reports = try await told(host, of: id)
        #expect(reports.count == 1 && reports.first?["transfer"]?.string == id && reports.first?["ended"]?.string == "failed", "\(reports)")
        let counts = ["done", "failed", "waiting"].map { reports.first?[$0]?.integer }
        #expect(counts == [done, failed, waiting], "\(reports)")
      }
      try await expectNoProblem(host)
    }
  }

  @Test(
    "a transfer that the operator cancels is told to its plugin once, before its first run and in mid-file; its own cancellation is not")
  func cancelled() async throws {
    try await withPlugins { host, server in
      let held = try await submit(host, "{\"url\":\"\(server.address)/h?size=3000000&hold=1500000\",\"to\":\"h\",\"notify\":true}")
      try await host.progress(of: held, reaches: 1_500_000)
      #expect(try await host.cli("transfers", "pause", held).status == 0)
      try await host.request(held, is: "pending")
      #expect(try await host.cli("transfers", "cancel", held).status == 0)
      let running = try await submit(host, "{\"url\":\"\(server.address)/r?size=3000000&hold=1500000\",\"to\":\"r\",\"notify\":true}")
      try await host.progress(of: running, reaches: 1_500_000)
      #expect(try await host.cli("tasks", "cancel", running).status == 0)
      for id in [held, running] {
        try await host.request(id, is: "cancelled")
        let reports = try await told(host, of: id)
        #expect(
          reports.count == 1 && reports.first?["ended"]?.string == "cancelled" && reports.first?["waiting"]?.integer == 1, "\(reports)")
      }
      let own = try await submit(host, "{\"url\":\"\(server.address)/o?size=3000000&hold=1500000\",\"to\":\"o\",\"notify\":true}")
      try await host.progress(of: own, reaches: 1_500_000)
      #expect(try await run(host, "\"cancel \(own)\"")["status"]?.integer == 0)
      try await host.request(own, is: "cancelled")
      #expect(try await told(host, of: own).isEmpty)
    }
  }

  @Test("a plugin that may submit transfers changes none of another plugin's or of a client's, and is told of the end of none")
  func takeover() async throws {
    try await withPlugins { host, server in
      let id = try await submit(host, "{\"url\":\"\(server.address)/t?size=3000000&hold=1500000\",\"to\":\"t\",\"notify\":true}")
      try await host.progress(of: id, reaches: 1_500_000)
      let client = try await host.cli(
        "transfers", "submit", "\(server.address)/c?size=3000000&hold=1500000", "--to", host.directory("files/c"), "--after", "1h")
      let clients = client.output.trimmingCharacters(in: .whitespacesAndNewlines)
      for (taken, name) in [(id, Self.identifier), (id, "test.deputy"), (clients, "test.deputy")] {
        let payload = "{\"url\":\"\(server.address)/a?size=5\",\"to\":\"\(host.directory("files/a"))\",\"notify\":\"\(name)\"}"
        let answer = try await run(host, "{\"take\":\"\(taken)\",\"with\":\(payload)}", "test.deputy")
        #expect((answer["status"]?.integer ?? 0) < 0, "\(answer)")
      }
      #expect(try await host.json("tasks", "show", id)["tags"]?.array.compactMap(\.string) == ["plugin:\(Self.identifier)"])
      _ = try await server.get("/release/t")
      try await host.request(id, is: "succeeded")
      #expect(try await told(host, of: id).map { $0["done"]?.integer } == [1])
      let wakes = try await host.json("tasks", "list", "--tag", "transfer:\(id)")["requests"]?.array ?? []
      #expect(wakes.map { $0["identifier"]?.string } == [Self.identifier])
    }
  }

  @Test("a plugin that may submit transfers launches no handler by them that it may not submit to, and marks none as another's")
  func deputy() async throws {
    try await withPlugins { host, server in
      let item = "\"url\":\"\(server.address)/a?size=5\",\"to\":\"\(host.directory("files/a"))\""
      let refused = try await run(host, "{\"plain\":{\(item),\"notify\":\"\(Self.identifier)\"}}", "test.deputy")
      #expect((refused["status"]?.integer ?? 0) < 0, "\(refused)")
      #expect(refused["error"]?.string?.contains("test.deputy may not submit to \(Self.identifier)") == true, "\(refused)")
      let own = try await submit(host, "{\"plain\":{\(item),\"notify\":\"test.deputy\"}}", "test.deputy")
      try await host.request(own, is: "succeeded")
      #expect(try await told(host, of: own).first?["done"]?.integer == 1)
      // Its keys are its own: with one that begins as another plugin's does, it takes none of that plugin's.
      let keyed = try await submit(host, "{\"keyed\":{\(item)}}", "test.deputy")
      #expect(try await host.json("tasks", "show", keyed)["unique_key"]?.string == "test.deputy/other/k")
      // The operator may.
      let client = try await host.cli(
        "transfers", "submit", "\(server.address)/b?size=5", "--to", host.directory("files/b"), "--notify", Self.identifier, "--wait")
      #expect(client.status == 0, "\(client)")
      let unknown = try await host.cli(
        "transfers", "submit", "\(server.address)/b?size=5", "--to", host.directory("files/b"), "--notify", "test.deputy")
      #expect(unknown.status == 6 && unknown.errors.contains("may not submit to test.deputy"), "\(unknown)")
      // Nobody but the host marks a transfer as a plugin's.
      for arguments in [["transfers", "submit", "http://x/", "--to", "/x"], ["submit", Self.identifier]] {
        let marked = try await host.cli(arguments + ["--tag", "plugin:\(Self.identifier)"])
        #expect(marked.status != 0 && marked.errors.contains("reserved for the host"), "\(marked)")
        let told = try await host.cli("submit", "org.taskhost.transfers", "--payload", "{}", "--tag", "transfer:1")
        #expect(told.status != 0 && told.errors.contains("tags that begin with transfer: are reserved for the host"), "\(told)")
      }
      #expect(try await run(host, "\"list\"").array.isEmpty)
    }
  }

  @Test("a plugin does not end the operator's pause of its transfer; the operator ends the plugin's")
  func pauses() async throws {
    try await withPlugins { host, server in
      let id = try await submit(host, "{\"url\":\"\(server.address)/a?size=3000000&hold=1500000\",\"to\":\"a\"}")
      try await host.progress(of: id, reaches: 1_500_000)
      #expect(try await run(host, "\"pause \(id)\"")["status"]?.integer == 0)
      try await host.request(id, is: "pending")
      #expect(try await host.cli("transfers", "pause", id, "--why", "not now").status == 0)
      #expect(try await run(host, "\"resume \(id)\"")["status"]?.integer == 0)
      #expect(try await run(host, "\"pause \(id)\"")["status"]?.integer == 0)
      await host.kill()
      try await host.start()
      #expect(try await run(host, "\"resume \(id)\"")["status"]?.integer == 0)
      let record = try await host.json("tasks", "show", id)
      #expect(record["paused"]?["why"]?.string == "not now" && record["state"]?.string == "pending", "\(record)")
      #expect(record["paused"]?["by"]?.string?.contains("user \(geteuid())") == true)
      for list in [["tasks", "list"], ["transfers", "list", "--state", "paused"]] {
        let listed = try await host.cli(list)
        #expect(listed.output.contains("paused"), "\(list): \(listed)")
      }
      let others = try await host.cli("transfers", "list", "--state", "running", "--state", "succeeded")
      #expect(!others.output.contains(id), "\(others)")
      let why = try await host.cli("tasks", "why", id)
      #expect(why.output.contains("taskhost transfers resume \(id)"), "\(why)")
      _ = try await server.get("/release/a")
      #expect(try await host.cli("transfers", "resume", id).status == 0)
      try await host.request(id, is: "succeeded")
    }
  }
}
