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
