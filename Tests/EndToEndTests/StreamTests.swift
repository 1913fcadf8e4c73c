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
}
