import TestSupport
import Foundation
import Glibc
import Testing

/// What the host lacks is not held against requests and plugins.
@Suite("A shortage of the host", .timeLimit(.minutes(20)))
struct HostShortageTests {
  private func limit(_ host: HostProcess, _ resource: String, _ value: String) async throws {
    let result = try await Program.run("/usr/bin/prlimit", ["--pid", "\(host.processID)", "--\(resource)=\(value):"])
    try #require(result.status == 0, "\(result.errors)")
  }

  @Test("a worker that cannot be started for want of descriptors spends no attempt: the request waits, status warns, and it runs later")
  func descriptors() async throws {
    try await HostProcess.run { host in
      // What is known of a plugin needs no worker until it has a run.
      #expect(try await host.terminate().status == 0)
      try await host.start()
      #expect(try await host.worker(of: "script.so") == nil)
      let before = try await Program.run("/usr/bin/prlimit", ["--pid", "\(host.processID)", "--nofile", "--output=SOFT", "--noheadings"])
      let id = try await host.submit("result 0", ["--after", "2s"])
      try await limit(host, "nofile", "3")
      try await host.current.line(with: "could not be started")
      try await host.current.line(with: "could not be started", from: host.current.lines.count)
      try await limit(host, "nofile", before.output.trimmingCharacters(in: .whitespacesAndNewlines))
      // Somebody has to do something about it.
      let answer = try await host.cli("status", "--json")
      #expect(answer.status == 1, "\(answer.errors)")
      let status = try answer.json()
      let warnings = status["warnings"]?.array.compactMap(\.string) ?? []
      #expect(
        warnings.contains { $0.contains("test.script") && $0.contains("could not be started") && $0.contains("stay pending") },
        "\(warnings)")
      let record = try await host.request(id, is: "succeeded")
      #expect(record["attempts_spent"]?.integer == 0, "\(record)")
      #expect(try await host.runs(of: id).compactMap { $0["outcome"]?.string } == ["succeeded"])
      #expect(try await host.plugin("script.so")["strikes"]?.integer ?? 0 == 0)
      let after = try await host.cli("status", "--json").json()["warnings"]?.array.compactMap(\.string) ?? []
      #expect(!after.contains { $0.contains("could not be started") }, "\(after)")
    }
  }
}
