import Foundation
import TestSupport
import Testing

/// A rate counts the moments at which handlers are called, not those at which runs are handed to a worker that is still to be launched.
@Suite("Rates, end to end", .timeLimit(.minutes(10)))
struct RateLimitTests {
  private static let launch = 1500
  private static let period: Int64 = 2000

  /// Submits a dozen requests and waits for their ends.
  ///
  /// - Returns: When their handlers were called, ascending; in milliseconds since 1970.
  private func begins(_ host: HostProcess) async throws -> [Int64] {
    let bodies = Array(repeating: "{\"identifier\": \"test.script\", \"payload\": \"result 0\"}", count: 12)
    let answer = try await host.post("/v1/requests", "[\(bodies.joined(separator: ", "))]")
    let ids = try answer.json()["requests"]?.array.compactMap { $0["id"]?.string } ?? []
    try #require(ids.count == 12, "\(answer)")
    for id in ids { try await host.request(id, is: "succeeded") }
    let runs = try await host.json("runs", "list")["runs"]?.array ?? []
    let begins = runs.filter { ids.contains($0["request"]?.string ?? "") }.compactMap { $0["started_unix_ms"]?.integer }
    try #require(begins.count == 12, "\(runs)")
    return begins.map { Int64($0) }.sorted()
  }

  @Test("no stretch of time has more begins than the rate allows, when the worker takes its time to launch")
  func slowLaunch() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script", ["-DLAUNCH_MS=\(Self.launch)", "-DMAX_RUNS=8"])
      try host.configure("[plugin.\"test.script\"]\nrate_limit = \"4/2s\"\n")
      try await host.start()
      try await host.terminate()
      // What it registers is known by now: its worker is launched when there is something to run.
      try await host.start()
      let submitted = Int64(Date().timeIntervalSince1970 * 1000)
      let begins = try await begins(host)
      #expect(try #require(begins.first) >= submitted + Int64(Self.launch) / 2, "the worker was there before")
      for index in 4..<begins.count { #expect(begins[index] - begins[index - 4] >= Self.period, "\(begins)") }
    }
  }
}
