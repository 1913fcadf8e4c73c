import FoundationEssentials
import TaskHostSDK
import TaskHostTesting
import Testing

@Suite("Traces of runs", .timeLimit(.minutes(10)))
struct TraceTests {
  private static let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

  @Test("a run has the trace of its submission, and passes it on")
  func passed() async throws {
    let host = try TestHost.with { task in
      let trace = try #require(task.trace)
      #expect(trace.traceparent.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") && trace.traceparent != Self.parent)
      #expect(trace.link == nil)
      var next = TaskRequest(identifier: task.identifier, earliestBegin: .distantFuture)
      next.traceparent = trace.traceparent
      try task.submit(next)
      return .success
    }
    var request = try TestRequest()
    request.traceparent = Self.parent
    let run = try await host.launch(requestID: try host.submit(request).id).ended()
    #expect(run.result == .success)
    #expect(run.submissions.first?.traceparent?.hasPrefix("00-0af7651916cd43dd8448eb211c80319c-") == true)
  }

  @Test("parts that a run measures are in its report, with what they returned or threw; without a recorded trace, there are none")
  func spans() async throws {
    struct Lost: Error {}
    let host = try TestHost.with { task in
      let sum = await task.withSpan("add", attributes: ["count": 2, "kind": "exact", "share": 0.5, "last": true]) { 1 + 2 }
      await #expect(throws: Lost.self) { try await task.withSpan(String(repeating: "\u{fc}", count: 100)) { throw Lost() } }
      for _ in 0..<200 { await task.withSpan("many") {} }
      try await task.withSpan("large", attributes: ["text": .text(String(repeating: "x", count: 2000))]) {
        try await task.sleep(for: .seconds(1))
      }
      return sum == 3 ? .success : .failure
    }
    for (parent, count) in [(Self.parent, 128), (Self.parent.dropLast() + "0", 0), (nil, 0)] as [(String?, Int)] {
      var request = try TestRequest()
      request.traceparent = parent
      let run = try await host.launch(requestID: try host.submit(request).id).ended()
      #expect(run.result == .success && run.spans.count == count)
      guard count > 0 else { continue }
      #expect(run.spans[0].name == "add" && !run.spans[0].hasFailed)
      #expect(run.spans[0].attributes == #"{"count":2,"kind":"exact","last":true,"share":0.5}"#)
      #expect(run.spans[1].name == String(repeating: "\u{fc}", count: 64) && run.spans[1].hasFailed)
    }
  }

  @Test("no trace is nil, and a malformed one is refused")
  func none() async throws {
    let host = try TestHost.with { task in
      #expect(task.trace == nil)
      var request = TaskRequest(identifier: task.identifier)
      request.traceparent = "00-1-2-3"
      let error = #expect(throws: TaskHostError.self) { try task.submit(request) }
      #expect(error?.code == .invalid && error?.message.contains("traceparent") == true)
      return .success
    }
    #expect(try await host.run().result == .success)
  }
}
