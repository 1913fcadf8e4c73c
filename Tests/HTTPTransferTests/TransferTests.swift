import Glibc
import Testing

@testable import HTTPTransfer

@Suite("Transfer") struct TransferTests {
  private static let hello = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"

  @Test("a request arrives as it is written: method, path, headers and body, and nothing that was not asked for")
  func asWritten() throws {
    let server = try RawServer(Self.hello)
    var request = TransferRequest(url: server.address + "/a/../b?c=d")
    request.method = "PUT"
    request.headers = [("X-One", "1"), ("X-None", ""), ("Accept", "text/plain")]
    request.body = Array("body".utf8)
    let answer = try Transfer(request).answer(mostBytes: 5)
    #expect(answer.head.status == 200)
    #expect(answer.body == Array("hello".utf8))
    let lines = try #require(server.requests.first).split(separator: "\r\n").map(String.init)
    #expect(lines.first == "PUT /a/../b?c=d HTTP/1.1")
    #expect(
      Set(lines.dropFirst()) == [
        "Host: 127.0.0.1:\(server.port)", "X-One: 1", "X-None:", "Accept: text/plain", "Content-Length: 4", "body",
      ])
  }

  @Test("a large body is not held back for an interim answer, and a POST without one says so")
  func bodies() throws {
    let server = try RawServer(Self.hello)
    var request = TransferRequest(url: server.address)
    request.method = "POST"
    _ = try Transfer(request).answer(mostBytes: 5)
    #expect(try #require(server.requests.last).contains("Content-Length: 0\r\n"))
    request.body = [UInt8](repeating: 0x78, count: 2_000_000)
    _ = try Transfer(request).answer(mostBytes: 5)
    let large = try #require(server.requests.last)
    #expect(large.utf8.count > 2_000_000)
    #expect(!large.contains("Expect"))
  }

  @Test("interim answers and trailers are no part of the head; a folded header is one")
  func head() throws {
    let server = try RawServer(
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 201 Created\r\nA:  b \r\na: c\r\nFolded: d\r\n  e\r\n"
        + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nTrailer: t\r\n\r\n")
    let answer = try Transfer(TransferRequest(url: server.address)).answer(mostBytes: 3)
    #expect(answer.head.status == 201)
    #expect(answer.head.headers.map(\.name) == ["A", "a", "Folded", "Transfer-Encoding"])
    #expect(answer.head.values("A") == ["b", "c"])
    #expect(answer.head.values("folded") == ["d e"])
  }

  @Test("a redirect is an answer, and is not followed")
  func redirect() throws {
    let server = try RawServer("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")
    #expect(try Transfer(TransferRequest(url: server.address)).answer(mostBytes: 0).head.status == 302)
    #expect(server.requests.count == 1)
  }

  @Test("no proxy of the environment is used", .enabled(if: getenv("http_proxy") != nil, "make test sets it, and nobody listens there"))
  func proxy() throws {
    let server = try RawServer(Self.hello)
    #expect(try Transfer(TransferRequest(url: server.address)).answer(mostBytes: 5).head.status == 200)
    #expect(try #require(server.requests.first).hasPrefix("GET / HTTP/1.1\r\n"))
  }

  @Test("a head or a body beyond its bound is refused")
  func bounds() throws {
    let server = try RawServer("HTTP/1.1 200 OK\r\nX: \(String(repeating: "x", count: 3000))\r\nContent-Length: 5\r\n\r\nhello")
    var request = TransferRequest(url: server.address)
    #expect(throws: TransferFailure.bodyTooLarge(limit: 4)) { try Transfer(request).answer(mostBytes: 4) }
    request.mostHeadBytes = 2000
    #expect(throws: TransferFailure.headTooLarge(limit: 2000)) { try Transfer(request).answer(mostBytes: 5) }
  }

  @Test("a reader that has enough ends the transfer, which is no failure")
  func enough() throws {
    let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
    var taken: [UInt8] = []
    let head = try Transfer(TransferRequest(url: server.address)).run { head, part in
      #expect(head.status == 200)
      taken += part
      return false
    }
    #expect(head.status == 200)
    #expect(taken == Array("hello".utf8))
  }

  @Test(
    "what is no HTTP, or ends too early, is a broken transfer",
    arguments: ["SSH-2.0-hello\r\n", "", "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nabc"])
  func broken(_ reply: String) throws {
    let server = try RawServer(reply)
    let failure = #expect(throws: TransferFailure.self) {
      try Transfer(TransferRequest(url: server.address)).answer(mostBytes: 1000)
    }
    guard case .broken = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("a request that would not arrive as it is written is refused, and nobody is asked", arguments: Unsendable.all)
  func unsendable(_ unsendable: Unsendable) throws {
    let server = try RawServer(Self.hello)
    var request = TransferRequest(url: server.address)
    unsendable.change(&request, server)
    let failure = #expect(throws: TransferFailure.self) { try Transfer(request).answer(mostBytes: 5) }
    guard case .invalidRequest = failure else {
      Issue.record("\(unsendable): \(String(describing: failure))")
      return
    }
    #expect(server.requests.isEmpty)
  }

  struct Unsendable: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let change: @Sendable (inout TransferRequest, RawServer) -> Void

    static let all = [
      Unsendable(testDescription: "a file") { request, _ in request.url = "file:///etc/passwd" },
      Unsendable(testDescription: "a user") { $0.url = "http://user:word@127.0.0.1:\($1.port)/" },
      Unsendable(testDescription: "no host") { request, _ in request.url = "http://" },
      Unsendable(testDescription: "a second line") { request, server in request.url = server.address + "/ HTTP/1.1\r\nX: y" },
      Unsendable(testDescription: "a second header") { request, _ in request.headers = [("A", "b\r\nC: d")] },
      Unsendable(testDescription: "a header's name") { request, _ in request.headers = [("A b", "c")] },
      Unsendable(testDescription: "a method") { request, _ in request.method = "GET /" },
      Unsendable(testDescription: "a socket") { request, _ in request.socketPath = "/" + String(repeating: "x", count: 107) },
    ]
  }

  @Test("a Unix socket is reached by its path; one that is not there, or that nobody serves, says so")
  func unixSocket() throws {
    let folder = "/tmp/http-transfer-\(getpid())-\(UInt32.random(in: 0 ... .max))"
    #expect(mkdir(folder, 0o700) == 0)
    defer {
      unlink(folder + "/socket")
      rmdir(folder)
    }
    let server = try RawServer(Self.hello, path: folder + "/socket")
    var request = TransferRequest(url: "http://localhost/path")
    request.socketPath = folder + "/socket"
    #expect(try Transfer(request).answer(mostBytes: 5).head.status == 200)
    #expect(try #require(server.requests.first).hasPrefix("GET /path HTTP/1.1\r\nHost: localhost\r\n"))
    request.socketPath = folder + "/absent"
    #expect(throws: TransferFailure.unreachable(code: ENOENT)) { try Transfer(request).answer(mostBytes: 5) }
    #expect(throws: TransferFailure.unreachable(code: ECONNREFUSED)) {
      try Transfer(TransferRequest(url: "http://127.0.0.1:1/")).answer(mostBytes: 5)
    }
  }

  @Test("only names are looked up", arguments: ["127.0.0.1", "[::1]", "localhost", "LOCALHOST:80", "x.localhost"])
  func addresses(_ host: String) {
    #expect(HostName(url: "https://\(host)/") == nil)
    #expect(HostName(url: "https://example.org/") != nil)
  }

  /// This machine's own name, where that leads to ``RawServer``.
  private static let ownName: String? = {
    var name = [CChar](repeating: 0, count: 256)
    guard gethostname(&name, name.count - 1) == 0 else { return nil }
    let text = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard let found = try? HostName(url: "http://\(text)/")?.lookUp(), found.hasSuffix(":80:127.0.0.1") else { return nil }
    return text
  }()

  @Test("a name that was looked up is where the request goes", .enabled(if: ownName != nil))
  func name() throws {
    let server = try RawServer(Self.hello)
    let name = try #require(Self.ownName)
    #expect(try Transfer(TransferRequest(url: "http://\(name):\(server.port)/")).answer(mostBytes: 5).head.status == 200)
    #expect(try #require(server.requests.first).contains("Host: \(name):\(server.port)"))
  }

  @Test("a host's name that nobody knows is told from one that does not answer")
  func unknownName() throws {
    // Longer than a name can be, so that no resolver is asked.
    let failure = #expect(throws: TransferFailure.self) {
      try Transfer(TransferRequest(url: "http://\(String(repeating: "x", count: 64)).test/")).answer(mostBytes: 5)
    }
    guard case .unresolved = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test("a server that says nothing is given up when the time is over")
  func timeout() throws {
    let server = try RawServer(nil)
    var request = TransferRequest(url: server.address)
    request.timeout = .milliseconds(50)
    #expect(throws: TransferFailure.timedOut) { try Transfer(request).answer(mostBytes: 5) }
  }

  @Test("a transfer is cancelled before it begins, by another thread, and with its task")
  func cancelled() async throws {
    let server = try RawServer(nil)
    let early = Transfer(TransferRequest(url: server.address))
    early.cancel()
    #expect(throws: TransferFailure.cancelled) { try early.answer(mostBytes: 5) }
    #expect(server.requests.isEmpty)

    // Without a limit of time: it would last for ever.
    let transfer = Transfer(TransferRequest(url: server.address))
    let task = Task { try await transfer.onThread { transfer throws(TransferFailure) in try transfer.answer(mostBytes: 5) } }
    while server.requests.isEmpty { await Task.yield() }
    transfer.cancel()
    await #expect(throws: TransferFailure.cancelled) { try await task.value }

    let other = Task {
      try await Transfer(TransferRequest(url: server.address)).onThread { transfer throws(TransferFailure) in
        try transfer.answer(mostBytes: 5)
      }
    }
    while server.requests.count < 2 { await Task.yield() }
    other.cancel()
    await #expect(throws: TransferFailure.cancelled) { try await other.value }
  }

  @Test("authorities that cannot be read are not ignored")
  func authorities() throws {
    let server = try RawServer(Self.hello)
    var request = TransferRequest(url: "https://127.0.0.1:\(server.port)/")
    request.moreAuthorities = Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)
    #expect(throws: TransferFailure.unusableAuthorities) { try Transfer(request).answer(mostBytes: 5) }
  }

  @Test("printing a request shows none of its content")
  func printing() {
    var request = TransferRequest(url: "https://example.org/?key=secret")
    request.headers = [("Authorization", "secret")]
    request.body = Array("secret".utf8)
    var dumped = ""
    dump(request, to: &dumped)
    #expect(!dumped.contains("secret"))
    #expect(!"\(request)".contains("secret"))
  }
}
