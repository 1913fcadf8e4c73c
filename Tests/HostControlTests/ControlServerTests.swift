import ControlTestSupport
import Foundation
import HTTPTransfer
import HostControl
import NIOCore
import NIOHTTP1
import StrictText
import TaskModel
import Testing

@Suite("Control API over a Unix socket") struct ControlServerTests {
  @Test("a request is submitted, shown with its payload byte for byte, listed without it, cancelled")
  func lifecycle() async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let body = "{\"identifier\":\"org.example.a\",\"payload\":{ \"x\":  1.0 },\"tags\":[\"t\"],\"every_ms\":60000}"
      let created = try await client.send("POST", "/v1/requests", body)
      #expect(created.status == 201)
      #expect(created.node["disposition"]?.string == "created")
      #expect(created.node["next_start"]?.string == "2023-11-14T22:13:20Z")
      #expect(created.node["next_start_unix_ms"]?.integer == 1_700_000_000_000)
      let id = try #require(created.node["id"]?.string)

      let shown = try await client.send("GET", "/v1/requests/\(id)")
      #expect(shown.status == 200)
      #expect(shown.head.values("content-type") == ["application/json; charset=utf-8"])
      #expect(shown.raw(shown.node["payload"]) == "{ \"x\":  1.0 }")
      #expect(shown.node["every_ms"]?.integer == 60_000)
      #expect(shown.node["state"]?.string == "pending")

      let listed = try await client.send("GET", "/v1/requests?state=pending&tag=t&identifier=org.example.a&limit=5")
      #expect(listed.node["requests"]?.array?.count == 1)
      #expect(listed.node["requests"]?.array?.first?["payload"] == nil)
      #expect(try await client.send("GET", "/v1/requests?tag=other").node["requests"]?.array == [])
      let filtered = try await client.send("GET", "/v1/requests?filter=state:pending%20tag:t%20identifier:org.example.*&limit=1")
      let plus = try await client.send("GET", "/v1/requests?filter=state:pending+tag:t+identifier:org.example.*&limit=1")
      #expect(plus.node["requests"]?.array == filtered.node["requests"]?.array)
      #expect(filtered.node["requests"]?.array?.count == 1)
      #expect(try await client.send("GET", "/v1/requests?filter=tag:other").node["requests"]?.array == [])

      let cancelled = try await client.send("DELETE", "/v1/requests/\(id)")
      #expect(cancelled.node["state"]?.string == "cancelled")
      let again = try await client.send("DELETE", "/v1/requests/\(id)")
      #expect(again.status == 409)
      #expect(again.code == "conflict")
    }
  }

  @Test("an array is answered by an array; a refused one submits nothing")
  func batch() async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let two = try await client.send("POST", "/v1/requests", "[{\"identifier\":\"a\"},{\"identifier\":\"b\",\"priority\":10}]")
      #expect(two.status == 201)
      #expect(two.node["requests"]?.array?.count == 2)
      #expect(two.node["requests"]?.array?.last?["notes"]?.array?.first?.string == "a note")
      let refused = try await client.send("POST", "/v1/requests", "[{\"identifier\":\"a\"},{\"identifier\":\"unknown\"}]")
      #expect(refused.status == 422)
      #expect(refused.code == "refused")
      #expect(refused.field == "[1].identifier")
      #expect(host.submitted.count == 2)
    }
  }

  @Test("a payload that is no JSON comes back as base64")
  func binary() async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let created = try await client.send("POST", "/v1/requests", "{\"identifier\":\"a\",\"payload_base64\":\"/wA=\"}")
      let shown = try await client.send("GET", "/v1/requests/\(created.node["id"]?.string ?? "")")
      #expect(shown.node["payload_base64"]?.string == "/wA=")
      #expect(shown.node["payload"] == nil)
    }
  }

  /// Method, path, body, status, code, field.
  static let refusals: [(String, String, String?, Int, String, String?)] = [
    ("GET", "/nothing", nil, 404, "not_found", nil),
    ("GET", "/v1/requests/abc", nil, 404, "not_found", "id"),
    ("GET", "/v1/requests/01976c1e-0000-7000-8000-000000000000", nil, 404, "not_found", "id"),
    ("GET", "/v1/runs/01976c1e-0000-7000-8000-000000000000/logs", nil, 404, "not_found", "id"),
    ("PATCH", "/v1/requests", nil, 405, "method_not_allowed", nil),
    ("POST", "/v1/status", "{}", 405, "method_not_allowed", nil),
    ("POST", "/v1/requests", nil, 400, "invalid", nil),
    ("POST", "/v1/requests", "{\"identifier\": \"a\",}", 400, "invalid", nil),
    ("POST", "/v1/requests", "[{\"identifier\":\"a\"},{\"identifier\":\"a\",\"priority\":true}]", 400, "invalid", "[1].priority"),
    ("POST", "/v1/requests", "{\"identifier\":\"a\",\"cron\":5}", 400, "invalid", "cron"),
    ("DELETE", "/v1/requests", nil, 400, "invalid", "tag"),
    ("DELETE", "/v1/requests?state=failed", nil, 400, "invalid", "state"),
    ("DELETE", "/v1/requests?identifier=a%20b", nil, 400, "invalid", "identifier"),
    ("POST", "/v1/requests/01976c1e-0000-7000-8000-000000000000/snooze", "{}", 400, "invalid", "delay_ms"),
    ("POST", "/v1/requests/01976c1e-0000-7000-8000-000000000000/snooze", "{\"delay_ms\":1}", 404, "not_found", "id"),
    ("POST", "/v1/requests/01976c1e-0000-7000-8000-000000000000/snooze", "{\"delay_ms\":-1}", 400, "invalid", "delay_ms"),
    ("POST", "/v1/requests/01976c1e-0000-7000-8000-000000000000/snooze", "{\"until\":1}", 400, "invalid", "until"),
    ("POST", "/v1/simulate/launch", "{}", 400, "invalid", "identifier"),
    ("POST", "/v1/simulate/launch", "{\"identifier\":\"a\",\"x\":1}", 400, "invalid", "x"),
    ("POST", "/v1/simulate/expire", "[]", 400, "invalid", nil),
    ("POST", "/v1/simulate/expire", "{\"identifier\":\"unknown\"}", 404, "not_found", "identifier"),
    ("GET", "/v1/requests?limit=0", nil, 400, "invalid", "limit"),
    ("GET", "/v1/requests?limit=1&limit=2", nil, 400, "invalid", "limit"),
    ("GET", "/v1/requests?state=claimed", nil, 400, "invalid", "state"),
    ("GET", "/v1/requests?stat=pending", nil, 400, "invalid", "stat"),
    ("GET", "/v1/requests?filter=stat:pending", nil, 400, "invalid", "filter"),
    ("GET", "/v1/requests?filter=tag:a&state=pending", nil, 400, "invalid", "state"),
    ("GET", "/v1/runs?filter=state:failed", nil, 400, "invalid", "filter"),
    ("GET", "/v1/runs?filter=outcome:failed&outcome=failed", nil, 400, "invalid", "outcome"),
    ("GET", "/v1/requests?tag=%ff", nil, 400, "invalid", nil),
    ("GET", "/v1/runs?request=x", nil, 400, "invalid", "request"),
    ("GET", "/v1/status?x=1", nil, 400, "invalid", "x"),
    ("GET", "/v1/conditions?name=network", nil, 400, "invalid", "name"),
    ("PUT", "/v1/conditions", "{}", 400, "invalid", nil),
    ("PUT", "/v1/conditions", "[]", 400, "invalid", nil),
    ("PUT", "/v1/conditions", "{\"netwrok\":false}", 400, "invalid", "netwrok"),
    ("PUT", "/v1/conditions", "{\"network\":\"maybe\"}", 400, "invalid", "network"),
    ("DELETE", "/v1/conditions?name=netwrok", nil, 400, "invalid", "name"),
    ("POST", "/v1/events/x", "{\"payload\":}", 400, "invalid", nil),
    ("POST", "/v1/events/x", "{\"paylod\":1}", 400, "invalid", "paylod"),
    ("POST", "/v1/events/x", "{\"payload\":1,\"payload_base64\":\"\"}", 400, "invalid", "payload_base64"),
    ("POST", "/v1/events/x", "{\"payload_base64\":\"x\"}", 400, "invalid", "payload_base64"),
    ("POST", "/v1/events/a%0Ab", nil, 400, "invalid", "event"),
    ("POST", "/v1/events/file:relative", nil, 400, "invalid", "event"),
    ("GET", "/v1/events/x", nil, 405, "method_not_allowed", nil),
    ("GET", "/v1/forecast?hours=0", nil, 400, "invalid", "hours"),
    ("GET", "/v1/forecast?hours=9000", nil, 400, "invalid", "hours"),
    ("GET", "/v1/forecast?limit=0", nil, 400, "invalid", "limit"),
    ("GET", "/v1/forecast?days=1", nil, 400, "invalid", "days"),
    ("POST", "/v1/reload", "{\"dry\":true}", 400, "invalid", "dry"),
    ("POST", "/v1/reload", "{\"dry_run\":1}", 400, "invalid", "dry_run"),
    ("POST", "/v1/reload", "[]", 400, "invalid", nil),
    ("POST", "/v1/plugins/a/release", nil, 404, "not_found", "identifier"),
    ("POST", "/v1/plugins/a%20b/release", nil, 404, "not_found", "identifier"),
    ("GET", "/v1/plugins/a/release", nil, 405, "method_not_allowed", nil),
    ("POST", "/openapi.json", nil, 405, "method_not_allowed", nil),
  ]

  @Test("what cannot be done is an error with a status, a code, a sentence and the field")
  func refused() async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      for (method, path, body, status, code, field) in Self.refusals {
        let answer = try await client.send(method, path, body)
        #expect(answer.status == status, "\(method) \(path)")
        #expect(answer.code == code, "\(method) \(path)")
        #expect(answer.field == field, "\(method) \(path)")
        #expect(answer.message?.isEmpty == false, "\(method) \(path)")
      }
      let wrong = try await client.send("PATCH", "/v1/requests")
      #expect(wrong.head.values("allow") == ["GET, POST, DELETE"])
    }
  }

  @Test("a body that is too big is 413, whether it is announced or not")
  func tooBig() async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let announced = try await client.send("POST", "/v1/simulate/launch", bytes: [UInt8](repeating: 0x20, count: 70_000))
      #expect(announced.status == 413)
      #expect(announced.code == "too_big")
      let unannounced = try RawClient(fixture.socket)
      unannounced.send("POST /v1/simulate/launch HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n")
      for _ in 0..<80 { unannounced.send("400\r\n\(String(repeating: " ", count: 1024))\r\n") }
      unannounced.send("0\r\n\r\n")
      #expect(await unannounced.readToEnd().hasPrefix("HTTP/1.1 413 "))
      let ok = try await client.send("GET", "/healthz")
      #expect(ok.status == 200)
    }
  }

  @Test("a batch of the largest size goes through")
  func largestBatch() async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let many = "[" + Array(repeating: "{\"identifier\":\"a\",\"payload\":[1]}", count: 10_000).joined(separator: ",") + "]"
      let answer = try await client.send("POST", "/v1/requests", many)
      #expect(answer.status == 201)
      #expect(answer.node["requests"]?.array?.count == 10_000)
    }
  }

  @Test("status, health, plugins, why, retry, runs and logs are answered")
  func others() async throws {
    let host = MemoryHost()
    let contract = HandlerContract(
      identifier: try TaskIdentifier("a"), kind: .refresh, budget: .seconds(30), grace: .seconds(5), displayName: "A")
    host.setPlugins([
      PluginStatus(file: "/p/a.so", health: .registered, contract: contract, isolation: "process"),
      PluginStatus(file: "/p/b.so", health: .refused, reasonCode: "abi", reasonMessage: "built for version 2"),
    ])
    host.setGates([Gate(kind: "time", sentence: "not before noon")])
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      let status = try await client.send("GET", "/v1/status")
      #expect(status.node["requests"]?["pending"]?.integer == 3)
      #expect(status.node["requests"]?["claimed"] == nil)
      #expect(status.node["phase"]?.string == "launched")
      #expect(status.node["needs_action"]?.bool == false)
      #expect(try await client.send("GET", "/v1/problems").node["problems"]?.array?.count == 0)
      #expect(try await client.send("GET", "/healthz").node["phase"]?.string == "launched")
      let plugins = try await client.send("GET", "/v1/plugins").node["plugins"]?.array
      #expect(plugins?.first?["budget_ms"]?.integer == 30_000)
      #expect(plugins?.last?["reason"]?["code"]?.string == "abi")

      let created = try await client.send("POST", "/v1/simulate/launch", "{\"identifier\":\"a\"}")
      let id = try #require(RequestID(created.node["id"]?.string ?? ""))
      #expect(try await client.send("GET", "/v1/requests/\(id)/why").node["gates"]?.array?.first?.string == "not before noon")
      #expect(try await client.send("POST", "/v1/requests/\(id)/retry").status == 409)

      let run = host.begin(id)
      host.log(run, "a line\u{1B}")
      #expect(try await client.send("POST", "/v1/simulate/expire", "{\"identifier\":\"a\"}").node["runs"]?.array?.first?.string == "\(run)")
      host.end(run, .failed, message: "no", output: Array("{\"n\": 1}".utf8), then: .failed)
      let shown = try await client.send("GET", "/v1/runs/\(run)")
      #expect(shown.node["outcome"]?.string == "failed")
      #expect(shown.node["duration_ms"]?.integer == 1234)
      #expect(shown.raw(shown.node["output"]) == "{\"n\": 1}")
      let logs = try await client.send("GET", "/v1/runs/\(run)/logs")
      #expect(logs.node["lines"]?.array?.first?["message"]?.string == "a line\u{1B}")
      #expect(try await client.send("GET", "/v1/runs?request=\(id)").node["runs"]?.array?.count == 1)
      #expect(try await client.send("POST", "/v1/requests/\(id)/retry").node["state"]?.string == "pending")
      let shutdown = try await client.send("POST", "/v1/shutdown")
      #expect(shutdown.status == 202)
    }
  }
}
