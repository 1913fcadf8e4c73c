import ControlTestSupport
import HTTPTransfer
@testable import HostControl
import StrictText
import Synchronization
import TaskModel
import Testing

@Suite("Event stream") struct EventStreamTests {
  @Test("a comment says at once that the client is subscribed; then events come, and the stream ends with the host")
  func stream() async throws {
    let host = MemoryHost()
    try await ControlFixture.with(host) { fixture in
      let client = HTTPTestClient(socket: fixture.socket)
      var parts = client.stream().makeAsyncIterator()
      let first = try #require(try await parts.next())
      #expect(first.head.status == 200)
      #expect(first.head.values("content-type") == ["text/event-stream; charset=utf-8"])
      var text = first.text
      #expect(text == ": subscribed\n\n")

      _ = try await client.send("POST", "/v1/requests", "{\"identifier\":\"a\"}")
      let id = try #require(try await host.requests(RequestQuery()).first?.id)
      let run = host.begin(id)
      host.report(run, RunProgress(completed: 1, total: 2))
      host.report(run, RunWork(itemsAttempted: 3, itemsCompleted: 2, bytesIn: .max))
      host.log(run, "two\nlines")
      host.end(run, .succeeded, output: Array("{\n\"a\":1}".utf8), then: .succeeded)
      host.finish()
      while let part = try await parts.next() { text += part.text }
      let names = text.split(separator: "\n").filter { $0.hasPrefix("event: ") }.map { $0.dropFirst(7) }
      #expect(names == ["request", "run", "progress", "work", "log", "run", "request"])
      let data = text.split(separator: "\n").filter { $0.hasPrefix("data: ") }.map { Array($0.dropFirst(6).utf8) }
      #expect(data.count == 7)
      let nodes = try data.map { try JSONReader.read($0) }
      #expect(nodes[2]["progress"]?["total"]?.integer == 2)
      #expect(nodes[3]["work"]?["items_completed"]?.integer == 2)
      #expect(nodes[3]["run"]?.string == run.description)
      #expect(nodes[4]["line"]?["message"]?.string == "two\nlines")
      #expect(nodes[5]["output_base64"]?.string.flatMap(Base64.decode) == Array("{\n\"a\":1}".utf8))
    }
  }

  @Test("a filter leaves only one request's events")
  func filtered() async throws {
    let host = MemoryHost()
    let first = RequestID(sequence: 1, origin: 1)
    let second = RequestID(sequence: 2, origin: 1)
    for id in [first, second] {
      host.put(
        RequestRecord(
          id: id, request: TaskRequest(identifier: try TaskIdentifier("a")), state: .pending, due: WallTime(unixMilliseconds: 0),
          submitted: WallTime(unixMilliseconds: 0)))
    }
    try await ControlFixture.with(host) { fixture in
      var parts = HTTPTestClient(socket: fixture.socket).stream("?request=\(second)").makeAsyncIterator()
      _ = try await parts.next()
      host.change(first, to: .cancelled)
      host.change(second, to: .cancelled)
      host.finish()
      var text = ""
      while let part = try await parts.next() { text += part.text }
      #expect(text.contains(second.description))
      #expect(!text.contains(first.description))
    }
  }

  @Test("a graceful shutdown of the server ends its streams")
  func shutdown() async throws {
    let host = MemoryHost()
    let reading = Mutex<Task<Void, any Error>?>(nil)
    try await ControlFixture.with(host) { fixture in
      let parts = HTTPTestClient(socket: fixture.socket).stream()
      let (subscribed, signal) = AsyncStream<Void>.makeStream()
      let task = Task {
        for try await _ in parts { signal.finish() }
      }
      reading.withLock { $0 = task }
      for await _ in subscribed {}
    }
    try await reading.withLock { $0 }?.value
  }

  @Test("a client that goes away is forgotten, though nothing happens")
  func clientGone() async throws {
    let (gone, signal) = AsyncStream<Void>.makeStream()
    let host = MemoryHost(onReadersGone: { signal.finish() })
    try await ControlFixture.withDirectory { directory in
      let socket = "\(directory)/c.sock"
      try await ControlFixture.serve(host, on: ControlSocket(path: socket), changing: { $0.patience.eventLinger = .zero }) {
        do {
          var parts = HTTPTestClient(socket: socket).stream().makeAsyncIterator()
          _ = try await parts.next()
        }
        // Nobody reads the answer any more: its connection is closed.
        for await _ in gone {}
      }
    }
  }
}
