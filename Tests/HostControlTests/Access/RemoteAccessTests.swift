import ControlTestSupport
import HTTPTransfer
import Glibc
import HostThreads
import NIOCore
import StrictText
import TaskModel
import Testing

@testable import HostControl

@Suite("Access over TCP") struct RemoteAccessTests {
  @Test("without a token, only health and the description are answered; the rest is 401 with a challenge")
  func nobody() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let client = fixture.stranger()
      #expect(try await client.send("GET", "/healthz").status == 200)
      #expect(try await client.send("GET", "/openapi.json").node["openapi"]?.string == "3.1.0")
      for (method, path) in [("GET", "/v1/requests"), ("GET", "/v1/status"), ("POST", "/v1/requests"), ("GET", "/metrics")] {
        let answer = try await client.send(method, path, method == "POST" ? "{}" : nil)
        #expect(answer.status == 401 && answer.code == "unauthorized", "\(path)")
        #expect(answer.head.values("www-authenticate").first?.hasPrefix("Bearer") == true)
      }
    }
  }

  @Test("each role may do what it and those before it may; a 403 names the role that is needed")
  func roles() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let (read, submit, operate) = (try fixture.client(.read), try fixture.client(.submit), try fixture.client(.operate))
      for client in [read, submit, operate] { #expect(try await client.send("GET", "/v1/requests").status == 200) }
      let body = #"{"identifier": "com.example.a"}"#
      let refused = try await read.send("POST", "/v1/requests", body)
      #expect(refused.status == 403 && refused.code == "forbidden")
      #expect(refused.message?.contains("needs a token with the role submit") == true && refused.message?.contains(read.id) == true)
      #expect(try await submit.send("POST", "/v1/requests", body).status == 201)
      let more = try await submit.send("PUT", "/v1/conditions", #"{"power": false}"#)
      #expect(more.status == 403 && more.message?.contains("the role operate") == true)
      #expect(try await operate.send("PUT", "/v1/conditions", #"{"power": false}"#).status == 200)
    }
  }

  @Test("every route refuses a token with too little, and says which role it needs")
  func allRoutes() throws {
    let token = try ControlToken.make()
    for route in RouteTable.control.routes {
      for role in AccessRole.allCases {
        let principal = Principal.token(
          TokenRecord(of: token, role: role, scope: .all, created: WallTime(unixMilliseconds: 0)), address: "")
        let refusal = principal.refusal(of: .route(route, argument: nil, answer: { _, _ in .json { _ in } }))
        #expect((refusal == nil) == (route.role.map { $0 <= role } ?? true), "\(route.name) for \(role)")
      }
      let nobody = Principal.nobody(address: "").refusal(of: .route(route, argument: nil, answer: { _, _ in .json { _ in } }))
      #expect((nobody == nil) == (route.role == nil), "\(route.name)")
    }
  }

  @Test("a wrong token is 401; after ten, 429 with Retry-After; a right one from the same address still passes")
  func limited() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let right = try fixture.client(.read)
      let wrong = fixture.stranger("Bearer \(try ControlToken.make().text)")
      for _ in 0..<FailedAttempts.mostInWindow {
        let answer = try await wrong.send("GET", "/v1/requests")
        #expect(answer.status == 401 && answer.head.values("www-authenticate").first?.contains("invalid_token") == true)
      }
      let limited = try await wrong.send("GET", "/v1/requests")
      #expect(limited.status == 429 && limited.head.values("retry-after").first.flatMap { Int($0) }.map { (1...61).contains($0) } == true)
      #expect(try await right.send("GET", "/v1/requests").status == 200)
    }
  }

  @Test(
    "what is no bearer token is refused",
    arguments: ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer th_abcdefgh_x", "th_abcdefgh_" + String(repeating: "A", count: 43)])
  func malformed(_ authorization: String) async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      _ = try fixture.client(.operate)
      #expect(try await fixture.stranger(authorization).send("GET", "/v1/requests").status == 401)
    }
  }

  @Test("a token that is revoked is refused at once, and its streams end; others go on")
  func revoked() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let (first, second) = (try fixture.client(.read), try fixture.client(.read))
      let transfer = Transfer(first.request("GET", "/v1/stream"))
      let (begun, signal) = AsyncStream<Void>.makeStream()
      async let ended: Void = {
        _ = try? await transfer.onThread { transfer throws(TransferFailure) in
          try transfer.run { _, _ in
            signal.finish()
            return true
          }
        }
      }()
      for await _ in begun {}
      try fixture.file.change { $0.removeAll { $0.id == first.id } }
      fixture.changed()
      await ended
      #expect(try await first.send("GET", "/v1/requests").status == 401)
      #expect(try await second.send("GET", "/v1/requests").status == 200)
    }
  }

  @Test("while the token file is broken, no token is accepted; repaired, they are again")
  func broken() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let client = try fixture.client(.read)
      chmod(fixture.file.path, 0o644)
      fixture.changed()
      #expect(try await client.send("GET", "/v1/requests").status == 401)
      chmod(fixture.file.path, 0o600)
      fixture.changed()
      #expect(try await client.send("GET", "/v1/requests").status == 200)
    }
  }

  @Test("the dashboard is for the control socket only, and a token changes nothing about that")
  func pages() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      for client in [fixture.stranger(), try fixture.client(.operate)] {
        for path in ["/", "/ui/requests", "/ui/files/style.css"] {
          let answer = try await client.send("GET", path)
          #expect(answer.status == 403 && answer.message?.contains("ssh -L") == true, "\(path)")
        }
      }
    }
  }

  @Test("names that DNS could lead here are refused, except those that the operator lists; pages of other sites change nothing")
  func browsers() async throws {
    try await RemoteFixture.with(MemoryHost(), names: ["Tasks.example.org"]) { fixture in
      var client = try fixture.client(.operate)
      client.headers = [("Host", "evil.example.org")]
      #expect(try await client.send("GET", "/v1/requests").status == 421)
      client.headers = [("Host", "tasks.example.org:7411")]
      #expect(try await client.send("GET", "/v1/requests").status == 200)
      client.headers = [("Sec-Fetch-Site", "cross-site")]
      #expect(try await client.send("DELETE", "/v1/conditions").status == 403)
      client.headers = [("Origin", "http://evil.example.org")]
      #expect(try await client.send("DELETE", "/v1/conditions").status == 403)
    }
  }

  @Test("clients without a token fill only their own places: the socket and clients with a token are still answered")
  func places() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let client = try fixture.client(.read)
      let strangers = try (0..<200).map { _ in try RawClient(port: fixture.port) }
      defer { withExtendedLifetime(strangers) {} }
      #expect(try await client.send("GET", "/v1/requests").status == 200)
      #expect(try await HTTPTestClient(socket: fixture.socket).send("GET", "/v1/requests").status == 200)
    }
  }

  @Test("a client that has shown a token keeps its place against strangers")
  func promoted() {
    let table = ConnectionTable(maximum: 3, reserve: 1)
    let (first, closes) = (Closes(), Closes())
    guard let number = table.admit(isOwn: false, waitingSince: .uptimeNanoseconds(1), close: { first.count() }) else {
      Issue.record("not admitted")
      return
    }
    table.promote(number)
    for second in 2...6 as ClosedRange<UInt64> {
      #expect(table.admit(isOwn: false, waitingSince: .uptimeNanoseconds(second), close: { closes.count() }) != nil)
    }
    #expect(first.number == 0 && closes.number == 3)
  }

  @Test("a port that is in use is named, with the remedy, and the socket is not offered")
  func inUse() async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      let remote = RemoteAccess(host: "127.0.0.1", port: fixture.port, tokenFile: fixture.file.path)
      let error = await #expect(throws: RemoteAccessError.self) {
        try await ControlFixture.serve(MemoryHost(), on: ControlSocket(path: fixture.directory + "/other.sock"), remote: remote) {}
      }
      #expect(error?.description.contains("another process has the port") == true)
      #expect(SocketFile.state(of: fixture.directory + "/other.sock") == .absent)
    }
  }
}
