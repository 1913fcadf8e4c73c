import ControlTestSupport
import NIOCore
import Synchronization
import Testing

@testable import HostControl

@Suite("Idle and slow clients") struct ClientPatienceTests {
  private static let short = ClientPatience(
    head: .milliseconds(200), idle: .milliseconds(200), body: (first: .milliseconds(200), most: .milliseconds(200)))

  private func serve(
    _ host: any ControlledHost, _ patience: ClientPatience, _ body: @escaping @Sendable (String) async throws -> Void
  ) async throws {
    try await ControlFixture.withDirectory { directory in
      let path = "\(directory)/c.sock"
      try await ControlFixture.serve(host, on: ControlSocket(path: path), changing: { $0.patience = patience }) { try await body(path) }
    }
  }

  @Test(
    "a connection that asks nothing, or stops in the middle of a head or a body, is closed",
    arguments: ["", "GET /he", "POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n[{"])
  func idle(_ text: String) async throws {
    try await serve(MemoryHost(), Self.short) { path in
      let client = try RawClient(path)
      client.send(text)
      let answer = await client.readToEnd()
      #expect(answer == "")
    }
  }

  @Test("a body that takes too long as a whole ends its connection")
  func slowBody() async throws {
    try await serve(MemoryHost(), Self.short) { path in
      let client = try RawClient(path)
      client.send("POST /v1/requests HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n[{")
      let answer = await client.readToEnd()
      #expect(answer == "")
    }
  }

  @Test("an unfinished body does not keep the server from ending: its client is told to come again")
  func unfinishedBody() async throws {
    let (clients, sent) = AsyncStream.makeStream(of: RawClient.self)
    try await serve(MemoryHost(), ClientPatience(body: (.hours(1), .hours(1)), shutdown: .seconds(3600))) { path in
      let client = try RawClient(path)
      client.send("POST /v1/requests HTTP/1.1\r\nhost: x\r\nexpect: 100-continue\r\ncontent-length: 9\r\n\r\n")
      #expect(await client.read().hasPrefix("HTTP/1.1 100 "))
      client.send("[{")
      sent.yield(client)
      sent.finish()
    }
    for await client in clients {
      let answer = await client.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.contains("connection: close"), "\(answer)")
    }
  }

  @Test("a reader of events that stops reading is dropped")
  func slowReader() async throws {
    let (gone, signal) = AsyncStream<Void>.makeStream()
    let host = MemoryHost(onReader: { $0.emit(lines: 2000) }, onReadersGone: { signal.finish() })
    try await serve(host, ClientPatience(unread: .milliseconds(200), eventLinger: .zero)) { path in
      let client = try RawClient(path)
      client.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n")
      for await _ in gone {}
      withExtendedLifetime(client) {}
    }
  }

  @Test("a reader that stopped reading does not keep the server from ending")
  func shutdown() async throws {
    let (reading, signal) = AsyncStream<Void>.makeStream()
    let host = MemoryHost(onReader: { host in
      host.emit(lines: 2000)
      signal.finish()
    })
    let client = Mutex<RawClient?>(nil)
    try await serve(host, ClientPatience(shutdown: .milliseconds(200))) { path in
      let connected = try RawClient(path)
      connected.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n")
      client.withLock { $0 = connected }
      for await _ in reading {}
    }
    #expect(client.withLock { $0 } != nil)
  }

  @Test("a head that is too large is refused")
  func largeHead() async throws {
    try await serve(MemoryHost(), ClientPatience()) { path in
      let client = try RawClient(path)
      client.send("GET /healthz HTTP/1.1\r\nhost: x\r\nx: \(String(repeating: "y", count: 20_000))\r\n\r\n")
      let answer = await client.readToEnd()
      #expect(answer.hasPrefix("HTTP/1.1 400 "))
    }
  }

  @Test("a connection is kept for several requests, also pipelined ones, and closed when the client wishes")
  func keptOpen() async throws {
    try await serve(MemoryHost(), ClientPatience()) { path in
      let client = try RawClient(path)
      client.send("GET /healthz HTTP/1.1\r\nhost: x\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
      let answer = await client.readToEnd()
      #expect(answer.split(separator: "HTTP/1.1 200 OK").count == 2)
    }
  }
}
