import CTaskHost
import TaskHostSDK
import TaskHostTesting
import Testing

/// Events that handlers raise.
@Suite("Raised events", .timeLimit(.minutes(10)))
struct EventTests {
  @Test("are seen in the report, and wake the requests that wait for them")
  func raised() async throws {
    let host = try TestHost.with { task in
      guard task.payloadBytes != Array(#"{"files":3}"#.utf8) else { return .success }
      let waiting = [
        try task.notify("org.example.closure.nobody"), try task.notify("org.example.closure", payload: []),
        try task.notify("org.example.closure.done", json: ["files": 3]),
      ]
      #expect(waiting == [0, 0, 1])
      return .success
    }
    var waiting = try TestRequest(payload: 1)
    waiting.event = "org.example.closure.done"
    let request = try host.submit(waiting)
    let run = try await host.run()
    #expect(run.result == .success)
    #expect(run.events.map(\.name) == ["org.example.closure.nobody", "org.example.closure", "org.example.closure.done"])
    #expect(run.events.map(\.payload) == [nil, [], Array(#"{"files":3}"#.utf8)])
    #expect(try run.events[2].payload(as: [String: Int].self) == ["files": 3])
    #expect("\(run)".contains(#"raised: org.example.closure.done: {"files":3}"#))
    let woken = try await host.runNext()
    #expect(woken?.requestID == request.id)
    #expect(woken?.payload == Array(#"{"files":3}"#.utf8))
  }

  @Test("need a name of the plugin's own, or the operator's permission")
  func permission() async throws {
    var options = TestHostOptions()
    options.mayNotify = ["orders.*"]
    let host = try TestHost.with(options: options) { task in
      try task.notify("orders.new")
      let refused: [(String, TaskHostError.Code)] = [
        ("orders", .notPermitted), ("host:launched", .notPermitted), ("", .invalid), ("a\0", .invalid),
      ]
      for (event, code) in refused {
        let error = #expect(throws: TaskHostError.self) { try task.notify(event) }
        #expect(error?.code == code, "\(event)")
      }
      let error = #expect(throws: TaskHostError.self) { try task.notify("orders.new", payload: Array(repeating: 0, count: 65_537)) }
      #expect(error?.code == .tooBig)
      return .success
    }
    let run = try await host.run()
    #expect(run.result == .success)
    #expect(run.events.map(\.name) == ["orders.new"])
  }

  @Test("fail when the test says so")
  func faults() async throws {
    let host = try TestHost.with { task in
      let error = #expect(throws: TaskHostError.self) { try task.notify(task.identifier) }
      #expect(error?.code == .unavailable)
      return .success
    }
    host.fail(.notify, with: taskhost_status(TASKHOST_EUNAVAILABLE))
    #expect(try await host.run().events == [])
  }
}
