import LauncherConformance
import TaskModel
import Testing

@Suite("Both launchers: execution assertions") struct AssertionConformance {
  @Test("a run takes, outlives and ends assertions; each expiration handler is called once and waited for", arguments: Isolation.allCases)
  func assertions(_ isolation: Isolation) async throws {
    let bench = try Bench(isolation)
    let contract = try await bench.load("runtime_assertions")
    let end = try await bench.run(contract, payload: [])
    #expect(end.ending == .returned(.success, stop: nil), "\(end.report.message ?? "")")
    let begun = bench.services.begunAssertions
    #expect(begun.map(\.length) == [.seconds(30), .seconds(600), .seconds(600), .milliseconds(1)])
    #expect(begun.allSatisfy { $0.name == "fixture" && $0.reason == "a test" && $0.process == nil })
    // One is left to the end of the run, one has expired: a host ends both by itself.
    #expect(bench.services.heldAssertions == 2)
  }
}
