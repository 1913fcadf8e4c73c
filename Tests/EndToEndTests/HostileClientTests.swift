import TestSupport
import Foundation
import Glibc
import Testing

/// Clients that do not play by the rules: the host lives, and serves the others.
@Suite("Hostile clients", .timeLimit(.minutes(20)))
struct HostileClientTests {
  private func expectAlive(_ host: HostProcess, sourceLocation: SourceLocation = #_sourceLocation) async throws {
    let answer = try await host.run("result 0")
    #expect(answer["outcome"]?.string == "succeeded", sourceLocation: sourceLocation)
    #expect(host.isRunning, sourceLocation: sourceLocation)
  }

  @Test("84: what is no HTTP is answered with 400 or hung up on")
  func malformedHTTP() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let random = (0..<4096).map { _ in UInt8.random(in: 0...255) }
      let table: [[UInt8]] = [
        Array("nonsense\r\n\r\n".utf8), random, Array("GET\r\n\r\n".utf8), Array("GET /v1/status HTTP/9.9\r\n\r\n".utf8),
        Array("POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: -5\r\n\r\n".utf8),
        Array("POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\nhello!".utf8),
        Array("POST /v1/requests HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nZZZ\r\n".utf8),
        Array("GET /v1/status HTTP/1.1\r\n".utf8) + Array(repeating: Array("x: y\r\n".utf8), count: 5000).flatMap { $0 }
          + Array("\r\n".utf8),
        Array("GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\nhost: x\r\n\r\n".utf8),
        Array("\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}".utf8), [0], [],
      ]
      for bytes in table {
        let answer = try await onThread {
          let client = try SocketClient(socket, limit: .seconds(5))
          // A host that has hung up already is as good as one that hangs up later.
          try? client.send(bytes)
          client.endSending()
          return (try? client.readToEnd()) ?? ""
        }
        #expect(
          answer.isEmpty || answer.hasPrefix("HTTP/1.1 4") || answer.hasPrefix("HTTP/1.1 5"), "\(bytes.prefix(40)): \(answer.prefix(200))")
      }
      try await expectAlive(host)
    }
  }

  @Test("84: what is no request is answered with its status and an error object")
  func malformedRequests() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let deep = String(repeating: "[", count: 100_000)
      let table: [(method: String, path: String, body: String?, status: Int)] = [
        ("POST", "/v1/requests", "{", 400), ("POST", "/v1/requests", "", 400), ("POST", "/v1/requests", "null", 400),
        ("POST", "/v1/requests", "[]", 400), ("POST", "/v1/requests", "{}", 400), ("POST", "/v1/requests", "\u{FEFF}{}", 400),
        ("POST", "/v1/requests", "{\"identifier\": 5}", 400), ("POST", "/v1/requests", "{\"identifier\": \"test.script\", \"x\": 1}", 400),
        ("POST", "/v1/requests", "{\"identifier\": \"test.script\", \"identifier\": \"test.script\"}", 400),
        ("POST", "/v1/requests", "{\"identifier\": \"test.script\", \"priority\": 1e999}", 400),
        ("POST", "/v1/requests", "{\"identifier\": \"test.script\", \"delay_ms\": -1}", 400),
        ("POST", "/v1/requests", "{\"identifier\": \"test.script\", \"payload_base64\": \"%%%\"}", 400),
        ("POST", "/v1/requests", "{\"identifier\": \"test.script\", \"cron\": 5}", 400),
        ("POST", "/v1/requests", "{\"identifier\": \"test.nobody\"}", 422),
        ("DELETE", "/v1/requests/nonsense", nil, 404), ("GET", "/v1/requests/../../etc/passwd", nil, 404), ("GET", "/nowhere", nil, 404),
        ("PATCH", "/v1/requests", nil, 405), ("GET", "/v1/requests?limit=99999999999", nil, 400),
        ("GET", "/v1/requests?nonsense=1", nil, 400),
        ("GET", "/v1/requests?state=%zz", nil, 400), ("POST", "/v1/simulate/launch", "[]", 400), ("GET", "/metrics?x=1", nil, 400),
      ]
      for row in table {
        let answer = try await onThread { try SocketClient(socket).request(row.method, row.path, body: row.body) }
        #expect(answer.status == row.status, "\(row.method) \(row.path) \(row.body ?? ""): \(answer.body)")
        let error = try answer.json()["error"]
        #expect(error?["code"]?.string?.isEmpty == false && error?["message"]?.string?.isEmpty == false, "\(answer.body)")
      }
      let nested = try await onThread { try SocketClient(socket).request("POST", "/v1/requests", body: deep) }
      #expect([400, 413].contains(nested.status), "\(nested.body.prefix(200))")
      #expect(try await host.json("tasks", "list")["requests"]?.array.isEmpty == true)
      try await expectAlive(host)
    }
  }

  @Test("84: a body of 100 MiB is refused by its announced length, and when it comes in chunks without one")
  func hugeBody() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let announced = try await onThread {
        let client = try SocketClient(socket)
        try client.send("POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: 104857600\r\n\r\n")
        return try client.answer()
      }
      #expect(announced.status == 413)
      #expect(try announced.json()["error"]?["code"]?.string == "too_big")
      let chunked = try await onThread {
        let client = try SocketClient(socket)
        try client.send("POST /v1/requests HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n")
        let chunk = Array("100000\r\n".utf8) + [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20) + Array("\r\n".utf8)
        for _ in 0..<100 { do { try client.send(chunk) } catch { break } }
        try? client.send("0\r\n\r\n")
        return try client.answer()
      }
      #expect(chunked.status == 413)
      // What was refused is not kept in memory.
      let resident = try #require(Self.residentMiB(of: host.processID))
      #expect(resident < 300, "\(resident) MiB")
      try await expectAlive(host)
    }
  }

  @Test("83: slow and silent clients hold nobody else up")
  func slowClients() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let slow = try await onThread {
        try Held(
          (0..<30).map { index in
            let client = try SocketClient(socket)
            switch index % 4 {
            case 0: break
            case 1: try client.send("GET /v1/sta")
            case 2: try client.send("POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{\"iden")
            default: try client.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n")
            }
            return client
          })
      }
      try await expectAlive(host)
      let started = ContinuousClock.now
      #expect(try await host.cli("status").status == 0)
      #expect(ContinuousClock.now - started < .seconds(5))
      // They hold up the host's end no longer than it gives them.
      host.signal(SIGTERM)
      #expect(try await host.end(within: .seconds(20)).status == 0)
      _ = slow.clients.count
    }
  }

  @Test("83: a good client is answered within a second beside six hundred slow ones", arguments: ["", "GET /v1/sta", "body", "stream"])
  func manySlowClients(_ kind: String) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try host.spawn(through: ["/usr/bin/prlimit", "--nofile=1024:1024", "--"])
      try await host.current.line(with: "control socket open")
      try await host.current.line(with: "launched:")
      let socket = host.socket
      let text =
        switch kind {
        case "body": "POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: 50\r\n\r\n{\"iden"
        case "stream": "GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n"
        default: kind
        }
      let (slow, longest) = try await onThread {
        var slow: [SocketClient] = []
        var longest = Duration.zero
        for index in 0..<600 {
          let client = try SocketClient(socket)
          // One that made room for others may be closed already.
          try? client.send(text)
          slow.append(client)
          guard index % 50 == 49 else { continue }
          let start = ContinuousClock.now
          let answer = try SocketClient(socket).request("GET", "/v1/status")
          guard answer.status == 200 else { throw TestFailure("\(answer)") }
          longest = max(longest, ContinuousClock.now - start)
        }
        return (Held(slow), longest)
      }
      #expect(longest < .seconds(1), "\(longest)")
      #expect(Self.descriptors(of: host.processID) < 600)
      _ = slow.clients.count
      try await expectAlive(host)
    }
  }

  @Test("83: clients that vanish in the middle of a request leave nothing behind")
  func vanishingClients() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let before = Self.descriptors(of: host.processID)
      try await onThread {
        for index in 0..<200 {
          let client = try SocketClient(socket)
          let body = "{\"identifier\": \"test.script\"}"
          let request = "POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: \(body.utf8.count)\r\n\r\n\(body)"
          try client.send(Array(request.utf8.prefix(index % 2 == 0 ? request.utf8.count : index % (request.utf8.count - 1))))
        }
      }
      try await expectAlive(host)
      // Every whole request was taken or not, as the host saw it; none is half there.
      let requests = try await host.json("tasks", "list", "--limit", "1000")["requests"]?.array ?? []
      #expect(requests.count <= 101)
      for request in requests { try await host.request(request["id"]?.string ?? "", is: "succeeded") }
      #expect(Self.descriptors(of: host.processID) <= before + 20, "connections were not closed")
    }
  }

  @Test("83: a hundred clients submit ten thousand requests at once, and all are taken and done")
  func hundredConnections() async throws {
    try await HostProcess.run("max_concurrent_runs = 16\n", script: ["-DMAX_RUNS=16"]) { host in
      let socket = host.socket
      let ids = try await withThrowingTaskGroup(of: [String].self) { group in
        for client in 0..<100 {
          group.addTask {
            try await onThread {
              let connection = try SocketClient(socket)
              return try (0..<100).map { _ in
                let answer = try connection.request(
                  "POST", "/v1/requests",
                  body: "{\"identifier\": \"test.script\", \"payload\": \"result 0\", \"tags\": [\"client\(client)\"]}")
                guard answer.status == 201, let id = try answer.json()["id"]?.string else { throw TestFailure("\(answer)") }
                return id
              }
            }
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      #expect(Set(ids).count == 10_000)
      for id in ids.suffix(20) { try await host.request(id, is: "succeeded") }
      let done = try await host.request(try await host.submit("result 0"), is: "succeeded")
      #expect(done["state"]?.string == "succeeded")
      try await expectAlive(host)
    }
  }

  @Test("83: ten thousand requests in one array are taken at once, one more is refused")
  func batch() async throws {
    try await HostProcess.run("max_pending = 100000\n") { host in
      let socket = host.socket
      let one = "{\"identifier\":\"test.script\",\"delay_ms\":3600000}"
      let most = "[" + Array(repeating: one, count: 10_000).joined(separator: ",") + "]"
      let taken = try await onThread { try SocketClient(socket).request("POST", "/v1/requests", body: most) }
      #expect(taken.status == 201)
      #expect(try taken.json()["requests"]?.array.count == 10_000)
      let more = "[" + Array(repeating: one, count: 10_001).joined(separator: ",") + "]"
      let refused = try await onThread { try SocketClient(socket).request("POST", "/v1/requests", body: more) }
      #expect(refused.status == 413)
      #expect(try await host.json("status")["requests"]?["pending"]?.integer == 10_000)
      try await expectAlive(host)
    }
  }

  /// Connections that stay open.
  private final class Held: @unchecked Sendable {  // reason: made on one thread and only kept afterwards
    let clients: [SocketClient]
    init(_ clients: [SocketClient]) { self.clients = clients }
  }

  private static func residentMiB(of process: pid_t) -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 / 1024 }
  }

  private static func descriptors(of process: pid_t) -> Int {
    (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd").count) ?? 0
  }
}
