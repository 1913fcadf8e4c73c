import ControlTestSupport
import StrictText
import TaskModel
import Testing

@Suite("Plugins' standing over HTTP") struct PluginHealthTests {
  private static func contract(_ identifier: String) throws -> HandlerContract {
    HandlerContract(identifier: try TaskIdentifier(identifier), kind: .refresh, budget: .seconds(30), grace: .seconds(5))
  }

  @Test("a plugin shows its worker, its signature and what counts against it")
  func plugins() async throws {
    let host = MemoryHost()
    host.setPlugins([
      PluginStatus(
        file: "/p/a.so", health: .registered, contract: try Self.contract("a"), isolation: "process", workerProcessID: 4711,
        workerState: "idle", signature: "release-key", digest: "ab12", sandbox: ["no Landlock"]),
      PluginStatus(
        file: "/p/b.so", health: .registered, contract: try Self.contract("b"), isolation: "process", failures: 2,
        heldUntil: WallTime(unixMilliseconds: 1_700_000_060_000), lastTrouble: "it crashed: signal 11"),
      PluginStatus(
        file: "/p/c.so", health: .suspended, contract: try Self.contract("c"), isolation: "thread", failures: 5, isQuarantined: true),
      PluginStatus(
        file: "/p/e.so", health: .suspended, contract: try Self.contract("e"), isolation: "thread", failures: 1,
        heldUntil: WallTime(unixMilliseconds: 1_700_000_060_000)),
      PluginStatus(file: "/p/d.so", health: .refused, reasonCode: "abi", reasonMessage: "built for version 2", isQuarantined: true),
    ])
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let plugins = try #require(try await client.send("GET", "/v1/plugins").node["plugins"]?.array)
      #expect(plugins.map { $0["standing"]?.string } == ["registered", "held", "quarantined", "suspended", "refused"])
      #expect(plugins.map { $0["strikes"]?.integer } == [0, 2, 5, 1, 0])
      #expect(plugins.map { $0["isolation"]?.string } == ["process", "process", "thread", "thread", nil])
      #expect(plugins[0]["worker"]?["process_id"]?.integer == 4711)
      #expect(plugins[0]["worker"]?["state"]?.string == "idle")
      #expect(plugins[0]["signature"]?.string == "release-key")
      #expect(plugins[0]["digest"]?.string == "ab12")
      #expect(plugins[0]["sandbox"]?.array?.first?.string == "no Landlock")
      #expect(plugins[1]["worker"] == nil)
      #expect(plugins[1]["held_until_unix_ms"]?.integer == 1_700_000_060_000)
      #expect(plugins[1]["last_trouble"]?.string == "it crashed: signal 11")
      #expect(plugins[1]["quarantined"]?.value == .bool(false))
      #expect(plugins[2]["quarantined"]?.value == .bool(true))
    }
  }

  @Test("a release answers what was held against the plugin; one that nobody registered is not found")
  func release() async throws {
    let host = MemoryHost()
    host.setPlugins([
      PluginStatus(
        file: "/p/a.so", health: .registered, contract: try Self.contract("a"), failures: 5, isQuarantined: true, lastTrouble: "signal 6")
    ])
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let released = try await client.send("POST", "/v1/plugins/a/release")
      #expect(released.status == 200)
      #expect(released.node["identifier"]?.string == "a")
      #expect(released.node["strikes"]?.integer == 5)
      #expect(released.node["quarantined_since_unix_ms"]?.integer != nil)
      #expect(released.node["last_trouble"]?.string == "signal 6")
      let again = try await client.send("POST", "/v1/plugins/a/release")
      #expect(again.node["strikes"]?.integer == 0)
      #expect(again.node["quarantined_since"] == nil)
      #expect(try await client.send("POST", "/v1/plugins/b/release").status == 404)
      #expect(try await client.send("GET", "/v1/plugins").node["plugins"]?.array?.first?["standing"]?.string == "registered")
    }
  }

  @Test("a run shows how far its stop had to go, its memory and its trouble; a live one none of it")
  func runs() async throws {
    let host = MemoryHost()
    let request = RequestID(sequence: 1, origin: 1)
    var record = RunRecord(
      id: RunID(sequence: 2, origin: 1), request: request, identifier: try TaskIdentifier("a"), attempt: 1,
      started: WallTime(unixMilliseconds: 0), ended: WallTime(unixMilliseconds: 5), outcome: .expired)
    record.report.stopReason = .budget
    record.report.forced = true
    record.report.stopStage = .killed
    record.report.cpuTime = .milliseconds(1500)
    record.report.peakMemory = 6_500_000
    record.report.trouble = "hung in\n#0 read"
    host.put(record)
    host.put(
      RunRecord(id: RunID(sequence: 3, origin: 1), request: request, identifier: record.identifier, attempt: 1, started: record.started))
    let runs = [record.id.description, RunID(sequence: 3, origin: 1).description]
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let ended = try await client.send("GET", "/v1/runs/\(runs[0])").node
      #expect(ended["stop_stage"]?.string == "killed")
      #expect(ended["cpu_ms"]?.integer == 1500)
      #expect(ended["peak_memory_bytes"]?.integer == 6_500_000)
      #expect(ended["trouble"]?.string == "hung in\n#0 read")
      let live = try await client.send("GET", "/v1/runs/\(runs[1])").node
      for name in ["stop_stage", "cpu_ms", "peak_memory_bytes", "trouble"] { #expect(live[name] == nil, "\(name)") }
    }
  }

  @Test("the status says what the machine lacks of the sandbox")
  func status() async throws {
    let host = MemoryHost()
    host.setSandbox(["Landlock has ABI 2: port lists need ABI 4"])
    try await ControlFixture.with(host) { fixture in
      let status = try await HTTPTestClient(socket: fixture.socket).send("GET", "/v1/status").node
      #expect(status["sandbox"]?.array?.map(\.string) == ["Landlock has ABI 2: port lists need ABI 4"])
    }
  }
}
