import Foundation
import TestSupport
import Testing

/// A `traceparent` from its submission to the run, under the real host.
@Suite("Traces reach runs", .timeLimit(.minutes(20)))
struct TraceTests {
  private static let trace = "0af7651916cd43dd8448eb211c80319c"
  private static let parent = "00-\(trace)-b7ad6b7169203331-01"

  private func runs(_ host: HostProcess, of request: String) async throws -> [JSON] {
    var runs: [JSON] = []
    for run in try await host.json("runs", "list", "--request", request)["runs"]?.array ?? [] {
      runs.append(try await host.json("runs", "show", try #require(run["id"]?.string)))
    }
    return runs
  }

  @Test("the first attempt is a child, a retry a root with a link; the run sees what the operator sees", arguments: Isolation.allCases)
  func attempts(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script")
      try host.configure("[retry]\ninitial = \"100ms\"\nmaximum = \"1s\"\n")
      try await host.start()
      let id = try await host.submit("trace;result-until 2 3", ["--traceparent", Self.parent])
      try await host.request(id, is: "succeeded")
      #expect(try await host.json("tasks", "show", id)["traceparent"]?.string == Self.parent)
      let runs = try await runs(host, of: id)
      #expect(runs.map { $0["attempt"]?.integer } == [2, 1])
      for run in runs {
        #expect(run["output"]?["traceparent"]?.string == run["traceparent"]?.string, "\(run)")
        #expect(run["output"]?["link"]?.string == run["trace_link"]?.string ?? "", "\(run)")
      }
      let first = try #require(runs.last?["traceparent"]?.string)
      #expect(first.hasPrefix("00-\(Self.trace)-") && first.hasSuffix("-01") && first != Self.parent)
      #expect(runs.last?["trace_link"] == nil)
      let second = try #require(runs.first?["traceparent"]?.string)
      #expect(!second.contains(Self.trace) && second.count == first.count)
      #expect(runs.first?["trace_link"]?.string == Self.parent)
    }
  }

  @Test("it comes from the variable TRACEPARENT too, and without one there is no trace", arguments: Isolation.allCases)
  func ways(_ isolation: Isolation) async throws {
    try await HostProcess.run(isolation: isolation) { host in
      let plain = try await host.run("trace")
      #expect(plain["run"]?["output"]?["trace"]?.integer == -8)
      #expect(plain["run"]?["traceparent"] == nil)
      let refused = try await host.cli("submit", "test.script", "--traceparent", "00-0-0-0")
      #expect(refused.status != 0 && refused.errors.contains("is not a traceparent"), "\(refused)")
      for (value, parent) in [(Self.parent, Self.parent), ("nonsense", nil)] {
        let submitted = try await Program.run(
          try BuiltProgram.taskhost, ["submit", "test.script", "--after", "1h"],
          environment: ["TASKHOST_SOCKET": host.socket, "TRACEPARENT": value], directory: host.directory.path)
        let id = submitted.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await host.json("tasks", "show", id)["traceparent"]?.string == parent)
      }
    }
  }
}
