import ControlTestSupport
import Testing

@testable import HostControl

@Suite("HTTP on the control socket") struct ProtocolTests {
  /// All that the server sends for `text`, until it closes the connection.
  private func answer(to text: String, endsSending: Bool = false) async throws -> String {
    let (answers, told) = AsyncStream.makeStream(of: String.self)
    try await ControlFixture.with(MemoryHost()) { fixture in
      let client = try RawClient(fixture.socket)
      client.send(text)
      if endsSending { client.endSending() }
      told.yield(await client.readToEnd())
      told.finish()
    }
    for await answer in answers { return answer }
    return ""
  }

  @Test("a client that has ended sending gets its answer, then the connection ends")
  func halfClosed() async throws {
    let answer = try await answer(to: "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n", endsSending: true)
    #expect(answer.hasPrefix("HTTP/1.1 200 "))
    #expect(answer.hasSuffix("}"))
  }

  @Test("a client that asks first is told to go on, or refused")
  func expectation() async throws {
    let head = "POST /v1/simulate/launch HTTP/1.1\r\nhost: x\r\nconnection: close\r\nexpect: 100-continue\r\n"
    let small = try await answer(to: head + "content-length: 2\r\n\r\n{}")
    #expect(small.hasPrefix("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 400 "), "\(small)")
    let large = try await answer(to: head + "content-length: 70000\r\n\r\n", endsSending: true)
    #expect(large.hasPrefix("HTTP/1.1 413 ") && large.contains("connection: close"), "\(large)")
  }

  @Test("HEAD gets the head alone, also before a further request")
  func head() async throws {
    let answer = try await answer(
      to: "HEAD /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 405 "))
    #expect(answer.split(separator: "\r\n\r\n").count == 3, "\(answer)")
    #expect(answer.contains("\r\n\r\nHTTP/1.1 200 "))
  }

  @Test("a request of HTTP/1.0 ends the connection unless it asks otherwise")
  func oldVersion() async throws {
    let one = try await answer(to: "GET /healthz HTTP/1.0\r\n\r\n")
    #expect(one.hasPrefix("HTTP/1.0 200 "))
    let two = try await answer(to: "GET /healthz HTTP/1.0\r\nconnection: keep-alive\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n")
    #expect(two.split(separator: "HTTP/1.0 200").count == 2)
  }

  @Test("a target may be a whole URL")
  func absoluteForm() async throws {
    let head = "HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    #expect(try await answer(to: "GET http://localhost/healthz \(head)").hasPrefix("HTTP/1.1 200 "))
    #expect(try await answer(to: "GET http://localhost \(head)").hasPrefix("HTTP/1.1 200 "))
  }

  @Test(
    "a page of another site reaches and changes nothing; programs call the host as they like",
    arguments: [
      ("GET /v1/status", "host: evil.example", 421), ("GET /metrics", "host: evil.example:80", 421),
      ("POST /v1/shutdown", "host: localhost\r\norigin: http://evil.example", 403),
      ("POST /v1/shutdown", "host: localhost\r\nsec-fetch-site: cross-site", 403),
      ("POST /v1/shutdown", "host: localhost\r\nsec-fetch-site: same-site", 403),
      ("POST /v1/requests", "host: localhost\r\norigin: http://localhost", 400), ("GET /v1/status", "host: h", 200),
      ("GET /v1/status", "host: 127.0.0.1:7411", 200), ("GET /v1/status", "host: [::1]:7411", 200),
      ("GET /v1/status", "host: localhost\r\norigin: http://evil.example", 200),
    ])
  func otherSites(_ line: String, _ headers: String, _ status: Int) async throws {
    #expect(try await answer(to: "\(line) HTTP/1.1\r\n\(headers)\r\nconnection: close\r\n\r\n").hasPrefix("HTTP/1.1 \(status) "))
  }

  @Test("the rest of a refused body is dropped, and no further request is read")
  func refusedBody() async throws {
    let body = String(repeating: " ", count: 70_000)
    let answer = try await answer(
      to: "POST /v1/simulate/launch HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n11170\r\n\(body)\r\n0\r\n\r\n"
        + "GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 413 "))
    #expect(answer.split(separator: "HTTP/1.1").count == 1, "\(answer)")
  }

  @Test(
    "a body for a route that takes none is dropped",
    arguments: ["content-length: 5\r\n\r\nhello", "transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"])
  func unwantedBody(_ rest: String) async throws {
    let answer = try await answer(
      to: "GET /healthz HTTP/1.1\r\nhost: x\r\n\(rest)GET /nowhere HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    #expect(answer.hasPrefix("HTTP/1.1 200 ") && answer.contains("HTTP/1.1 404 "), "\(answer)")
  }

  @Test("what is not HTTP is told so")
  func nonsense() async throws {
    let answer = try await answer(to: "nonsense\r\n\r\n", endsSending: true)
    #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.contains("\"code\":\"invalid\""), "\(answer)")
  }
}

@Suite("Bodies that nobody can use") struct HostileBodyTests {
  private static let junk = 30_000_000

  /// What the server says, whether the client could send everything or not.
  private func answer(_ socket: String, _ head: String, _ part: String, times: Int) async throws -> String {
    let client = try RawClient(socket)
    async let answer = client.readToEnd()
    await Task.detached {
      client.send("\(head)\r\n\r\n")
      for _ in 0..<times { client.send(part) }
    }.value
    client.endSending()
    return await answer
  }

  @Test(
    "30 MB for a route with a smaller limit are refused at once, by length and in chunks, and others are answered meanwhile",
    arguments: [
      "POST /v1/events/x", "POST /v1/simulate/launch", "POST /v1/shutdown", "GET /v1/status", "POST /v1/pauses", "POST /nowhere",
      "POST /ui/submit", "PATCH /v1/requests",
    ])
  func junk(_ line: String) async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      let head = "\(line) HTTP/1.1\r\nhost: localhost\r\n"
      let part = String(repeating: "x", count: 1_000_000)
      let expected = line.contains("nowhere") ? "HTTP/1.1 404 " : "HTTP/1.1 413 "
      async let announced = answer(fixture.socket, head + "content-length: \(Self.junk)", part, times: 30)
      async let chunked = answer(fixture.socket, head + "transfer-encoding: chunked", "f4240\r\n\(part)\r\n", times: 30)
      let other = HTTPTestClient(socket: fixture.socket)
      for _ in 0..<20 { #expect(try await other.send("GET", "/healthz").status == 200) }
      for answer in [try await announced, try await chunked] {
        #expect(answer.hasPrefix(expected) && answer.contains("connection: close"), "\(answer.prefix(300))")
        #expect(answer.split(separator: "HTTP/1.1 ").count == 1, "\(answer.prefix(300))")
      }
    }
  }

  @Test("a refused body is refused before it is sent")
  func early() async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      let client = try RawClient(fixture.socket)
      client.send("POST /v1/events/x HTTP/1.1\r\nhost: x\r\ncontent-length: \(Self.junk)\r\n\r\n")
      // The client has sent nothing of it.
      #expect(await client.readToEnd().hasPrefix("HTTP/1.1 413 "))
    }
  }

  @Test("a large body that is junk does not hold up the others, and what it says is not sent back at length")
  func large() async throws {
    try await ControlFixture.with(MemoryHost()) { fixture in
      let other = HTTPTestClient(socket: fixture.socket)
      let long = String(repeating: "n", count: 8_000_000)
      async let refused = other.send("POST", "/v1/requests", "{\"\(long)\": 1, \"identifier\": \"a\"}")
      for _ in 0..<20 { #expect(try await other.send("GET", "/healthz").status == 200) }
      let answer = try await refused
      #expect(answer.status == 400 && answer.bytes.count < 100_000, "\(answer.bytes.count)")
    }
  }

  @Test(
    "a request of HTTP/1.1 has one Host",
    arguments: [
      ("HTTP/1.1", "", 400), ("HTTP/1.1", "host: a\r\nhost: a\r\n", 400), ("HTTP/1.1", "host: a\r\nHOST: b\r\n", 400),
      ("HTTP/1.0", "host: a\r\nhost: b\r\n", 400), ("HTTP/1.1", "host:\r\n", 200), ("HTTP/1.0", "", 200), ("HTTP/1.1", "host: a\r\n", 200),
    ])
  func hosts(_ version: String, _ headers: String, _ status: Int) async throws {
    try await RemoteFixture.with(MemoryHost()) { fixture in
      for client in [try RawClient(fixture.socket), try RawClient(port: fixture.port)] {
        client.send("GET /healthz \(version)\r\n\(headers)connection: close\r\n\r\n")
        let answer = await client.readToEnd()
        #expect(answer.hasPrefix("\(version) \(status) "), "\(answer)")
        if status == 400 { #expect(answer.contains("one header Host")) }
      }
    }
  }
}
