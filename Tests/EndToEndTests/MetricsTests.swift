import Foundation
import TestSupport
import Testing

/// `GET /metrics` of a real host.
@Suite("Metrics", .timeLimit(.minutes(20)))
struct MetricsTests {
  private func metrics(_ host: HostProcess) async throws -> String {
    let socket = host.socket
    let answer = try await onThread { try SocketClient(socket).request("GET", "/metrics") }
    #expect(answer.status == 200)
    return answer.body
  }

  private func value(_ series: String, in text: String) -> Double? {
    text.split(separator: "\n").first { $0.hasPrefix(series + " ") }.flatMap { Double($0.dropFirst(series.count + 1)) }
  }

  @Test("runs are counted by how they ended, how long they took and how late they began; only the last success outlives a restart")
  func runs() async throws {
    try await HostProcess.run("[retry]\nattempts = 1\n") { host in
      let before = Date().timeIntervalSince1970
      for _ in 0..<2 { #expect(try await host.run("result 0")["outcome"]?.string == "succeeded") }
      #expect(try await host.run("result 4")["outcome"]?.string == "failed")
      let text = try await metrics(host)
      let test = "identifier=\"test.script\""
      #expect(value("taskhost_runs_total{\(test),outcome=\"succeeded\",stop_reason=\"\"}", in: text) == 2, "\(text)")
      #expect(value("taskhost_runs_total{\(test),outcome=\"failed\",stop_reason=\"\"}", in: text) == 1)
      #expect(value("taskhost_run_duration_seconds_count{\(test)}", in: text) == 3)
      #expect(value("taskhost_start_lateness_seconds_count", in: text) == 3)
      #expect(value("taskhost_queue_latency_seconds_count{\(test)}", in: text) == 3)
      #expect(try #require(value("taskhost_start_lateness_seconds_sum", in: text)) < 600, "the due time is a time of today")
      #expect(value("taskhost_requests{state=\"failed\"}", in: text) == 1)
      #expect(value("taskhost_problems{kind=\"dead_letters\",needs_action=\"true\"}", in: text) == 1)
      #expect(value("taskhost_consecutive_failures{\(test)}", in: text) == 1)
      let success = try #require(value("taskhost_last_success_timestamp_seconds{\(test)}", in: text))
      #expect(success >= before - 1 && success <= Date().timeIntervalSince1970 + 1)
      #expect(try #require(value("taskhost_store_commits_total", in: text)) > 0)
      #expect(try #require(value("taskhost_worker_starts_total", in: text)) >= 1)
      await host.kill()
      try await host.start()
      let after = try await metrics(host)
      #expect(value("taskhost_runs_total{\(test),outcome=\"succeeded\",stop_reason=\"\"}", in: after) == nil)
      #expect(value("taskhost_last_success_timestamp_seconds{\(test)}", in: after) == success)
    }
  }
}
