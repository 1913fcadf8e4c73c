import TestSupport
import Foundation
import Testing

/// What an operator sees of the sandbox, on this kernel and as on one that has less.
@Suite("The sandbox, as operators see it", .timeLimit(.minutes(20)))
struct SandboxTests {
  /// Debian 12's own kernel has the second version of Landlock's interface.
  private static let old = ["TASKHOST_LANDLOCK_ABI": "2"]

  @Test("require_sandbox fails the launch where the kernel lacks something, and says what")
  func required() async throws {
    try await HostProcess.prepare(environment: Self.old) { host in
      try await host.addTwin()
      try host.configure("require_sandbox = true\n")
      let result = try await host.failure()
      #expect(result.status == 78)
      #expect(result.errors.contains("require_sandbox: Landlock ABI 2"), "\(result.errors)")
    }
  }

  @Test("what the kernel lacks is in status, and plugins run all the same")
  func lacking() async throws {
    try await HostProcess.prepare(environment: Self.old) { host in
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      let status = try await host.json("status")
      let sentences = status["sandbox"]?.array.compactMap(\.string) ?? []
      #expect(sentences.contains { $0.contains("Landlock ABI 2") }, "\(status)")
      try await expectTwinRuns(host)
    }
  }

  @Test("a list of ports is refused by name where Landlock cannot keep to it")
  func ports() async throws {
    try await HostProcess.prepare(environment: Self.old) { host in
      try await host.addTwin()
      try host.configure("[plugin.\"test.twin\".entitlements]\nnetwork = [443]\n")
      let result = try await host.failure()
      #expect(result.status == 78)
      #expect(result.errors.contains("test.twin") && result.errors.contains("list of ports"), "\(result.errors)")
    }
  }

  @Test("a denied access is told with the entitlement that would allow it, on this kernel and on an older one", arguments: [nil, "2"])
  func denial(_ version: String?) async throws {
    try await HostProcess.prepare(environment: version.map { ["TASKHOST_LANDLOCK_ABI": $0] } ?? [:]) { host in
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      let outside = try host.directory.folder("elsewhere") + "/outside"
      let id = try await host.submit("note \(outside)")
      try await host.current.line(with: "denied: create \(outside): add its folder to entitlements.write")
      try await host.request(id) { ["succeeded", "failed"].contains($0["state"]?.string ?? "") }
      #expect(!FileManager.default.fileExists(atPath: outside))
    }
  }
}
