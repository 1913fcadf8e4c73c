import TestSupport
import Foundation
import Testing

/// `GET /v1/stream`: what a client hears of what happens.
@Suite("Event stream", .timeLimit(.minutes(20)))
struct StreamTests {
  @Test("what happens after the subscription was confirmed is in the stream, however close it is")
  func noneIsMissed() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      // A run that ends at about the moment of the subscription: the record read afterwards shows its end, or an event does.
      for round in 0..<150 {
        try await onThread {
          let client = try SocketClient(socket)
          let body = "{\"identifier\": \"test.script\", \"payload\": \"sleep \(round % 4)\"}"
          let id = try client.request("POST", "/v1/requests", body: body).json()["id"]?.string ?? ""
          let events = try SocketClient(socket, limit: .seconds(5))
          try events.send("GET /v1/stream?request=\(id) HTTP/1.1\r\nhost: x\r\n\r\n")
          _ = try events.read(until: ": subscribed\n\n")
          if try client.request("GET", "/v1/requests/\(id)").json()["state"]?.string == "succeeded" { return }
          do { _ = try events.read(until: "\"state\":\"succeeded\"") } catch {
            let now = try client.request("GET", "/v1/requests/\(id)").json()["state"]?.string
            throw TestFailure("round \(round): the end of \(id) was not told, it is \(now ?? "unknown"): \(error)")
          }
        }
      }
    }
  }

  @Test("a stream tells submission, start, progress, log and end, in order, and only of the request asked for")
  func order() async throws {
    try await HostProcess.run { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path);progress 1 2;log 2 a line;message done")
      try await gate.arrival()
      let socket = host.socket
      let reading = Task {
        try await onThread {
          let events = try SocketClient(socket)
          try events.send("GET /v1/stream?request=\(id) HTTP/1.1\r\nhost: x\r\n\r\n")
          _ = try events.read(until: ": subscribed\n\n")
          gate.release()
          var names: [String] = []
          while true {
            _ = try events.read(until: "event: ")
            let name = try events.read(until: "\ndata: ")
            let data = try JSON(parsing: try events.read(until: "\n\n"))
            guard data["id"]?.string == id || data["request"]?.string == id else {
              throw TestFailure("an event of another request: \(data)")
            }
            names.append(name)
            if name == "request", data["state"]?.string == "succeeded" || names.count > 20 { break }
            if name == "run", names.contains("request") { break }
          }
          return names
        }
      }
      let names = try await reading.value
      #expect(names.filter { $0 == "progress" || $0 == "log" } == ["progress", "log"], "\(names)")
      #expect(names.contains("request") || names.contains("run"))
    }
  }

  @Test("clients that hardly read cost the host a bounded amount of memory, and are told what they missed when they read again")
  func hardlyReads() async throws {
    try await HostProcess.run("max_pending = 1000000\n") { host in
      let socket = host.socket
      let before = try Self.residentKiB(of: host.processID)
      let (missed, events) = try await onThread {
        let streams = try (0..<8).map { _ in
          let stream = try SocketClient(socket)
          try stream.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n")
          _ = try stream.read(until: ": subscribed\n\n")
          return stream
        }
        // Some 60 MB of events for each of the eight.
        let one = "{\"identifier\":\"test.script\",\"delay_ms\":3600000,\"tags\":[\"\(String(repeating: "t", count: 200))\"]}"
        let many = "[" + Array(repeating: one, count: 5000).joined(separator: ",") + "]"
        let client = try SocketClient(socket)
        let stream = streams[0]
        for _ in 0..<10 {
          guard try client.request("POST", "/v1/requests", body: many).status == 201 else { throw TestFailure("refused") }
          // The host disconnects a client that reads nothing for half a minute, which this may take on a busy machine.
          _ = try stream.read(until: "\n\n")
        }
        _ = try client.request("DELETE", "/v1/requests?identifier=test.script")
        // It is told each time that it is found behind.
        var count: Int64 = 0
        repeat {
          _ = try stream.read(until: "event: missed\ndata: ")
          let missed = try JSON(parsing: try stream.read(until: "\n\n"))
          count += missed["count"]?.integer ?? 0
          _ = try stream.read(until: "id: ")
          let next = try stream.read(until: "\n")
          guard next == missed["next"]?.string else { throw TestFailure("\(next) is not what \(missed) announced") }
        } while count <= 10_000
        return (count, streams.count)
      }
      #expect(missed > 10_000 && events == 8)
      let grown = try Self.residentKiB(of: host.processID) - before
      #expect(grown < 200 * 1024, "\(grown) KiB")
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("a client whose connection broke goes on behind the last event it saw; after a restart it is told that it missed some")
  func resumes() async throws {
    try await HostProcess.run { host in
      let socket = host.socket
      let first = try await onThread {
        let stream = try SocketClient(socket)
        try stream.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\n\r\n")
        _ = try stream.read(until: ": subscribed\n\n")
        _ = try SocketClient(socket).request("POST", "/v1/requests", body: "{\"identifier\":\"test.script\",\"delay_ms\":3600000}")
        _ = try stream.read(until: "id: ")
        return try stream.read(until: "\n")
      }
      let missed = try await host.submit("result 0", ["--after", "1h"])
      let next = try await onThread { try Self.next(after: first, socket) }
      #expect(next.name == "request")
      #expect(next.data["id"]?.string == missed)
      #expect(next.id.split(separator: "-")[0] == first.split(separator: "-")[0])
      try await host.terminate()
      try await host.start()
      let told = try await onThread { try Self.next(after: next.id, socket) }
      #expect(told.name == "missed")
      #expect(told.data["count"] == nil)
      #expect(told.id.split(separator: "-")[0] != first.split(separator: "-")[0])
    }
  }

  /// The first event of a stream that begins behind `last`.
  private static func next(after last: String, _ socket: String) throws -> (id: String, name: String, data: JSON) {
    let stream = try SocketClient(socket)
    try stream.send("GET /v1/stream HTTP/1.1\r\nhost: x\r\nlast-event-id: \(last)\r\n\r\n")
    _ = try stream.read(until: "id: ")
    let id = try stream.read(until: "\nevent: ")
    return (id, try stream.read(until: "\ndata: "), try JSON(parsing: try stream.read(until: "\n\n")))
  }

  private static func residentKiB(of process: pid_t) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }
}
