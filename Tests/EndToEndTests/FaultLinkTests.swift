import Foundation
import Testing

/// Fault 74: what a plugin does to the link between its worker and the host.
@Suite("Fault 74: the worker's link", .timeLimit(.minutes(20)))
struct FaultLinkTests {
  @Test(
    "74: garbage, an empty, half and oversized frames, a flood and a shut link cost the worker its life, and nobody else anything",
    arguments: ["garbage", "empty", "half", "oversized", "flood", "shut"])
  func attack(_ kind: String) async throws {
    try await HostProcess.withFault("faulty_misuse", .process) { host in
      let id = try await host.submit("once \(try host.unusedPath());link \(kind)", identifier: "test.fault")
      try await host.request(id, is: "succeeded")
      let record = try #require(try await host.records(of: id).last)
      // A frame over the socket's size never leaves the worker: the run goes on then, and waits for ever.
      #expect(record["outcome"]?.string == "crashed", "\(record)")
      let told = (record["message"]?.string ?? "") + (record["trouble"]?.string ?? "")
      #expect(told.contains("link") || told.contains("worker"), "\(record)")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test("74: a plugin that reads the host's messages to its worker, and sends them back, loses its worker")
  func steals() async throws {
    let configuration = "[plugin.\"test.fault\"]\nbudget = \"2s\"\ngrace = \"300ms\"\n"
    try await HostProcess.withFault("faulty_misuse", .process, configuration, arguments: ["-DMAX_RUNS=4"]) { host in
      let (gate, marker) = (try host.directory.fifo("gate"), try host.unusedPath())
      let thief = try await host.submit("once \(marker);gate \(gate.path);link steal", identifier: "test.fault")
      try await gate.pass()
      // What is sent now may be stolen. Whether or not it is, it is done in the end, and nothing is done twice at once.
      var ids: [String] = []
      for _ in 1...5 { ids.append(try await host.submit("result 0", identifier: "test.fault")) }
      for id in ids + [thief] { try await host.request(id, is: "succeeded", within: .seconds(60)) }
      #expect(["crashed", "expired"].contains(try await host.runs(of: thief).last?["outcome"]?.string))
      try await expectTwinRuns(host)
    }
  }
}
