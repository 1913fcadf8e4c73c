import Foundation
import Glibc
import TestSupport
import Testing

/// The audit and redaction of a real host.
@Suite("Audit and redaction", .timeLimit(.minutes(20)))
struct AuditTests {
  @Test("taskhost audit prints who changed what, as lines of JSON too, and goes on over kills of the host")
  func audit() async throws {
    try await HostProcess.run { host in
      let id = try await host.submit("result 0", ["--after", "1h"])
      #expect(try await host.cli("tasks", "cancel", id).status == 0)
      await host.kill()
      try await host.start()
      #expect(try await host.cli("pause", "tag:x").status == 0)
      let text = try await host.cli("audit", "--since", "1h")
      #expect(text.status == 0 && text.output.contains("cancelRequest") && text.output.contains(id), "\(text.output)\(text.errors)")
      let lines = try await host.cli("audit", "--json").output.split(separator: "\n").map { try JSON(parsing: String($0)) }
      #expect(lines.compactMap { $0["operation"]?.string } == ["submit", "cancelRequest", "pause"])
      #expect(lines.compactMap { $0["number"]?.integer } == [1, 2, 3])
      #expect(lines.allSatisfy { $0["user_id"]?.integer == Int64(getuid()) })
    }
  }

  @Test("members that the configuration redacts are seen by the handler only")
  func redacted() async throws {
    let configuration = """
      redact = ["password", "*.token"]
      [command.echo]
      run = ["/bin/cat"]
      stdout = "output"
      """
    try await HostProcess.run(configuration) { host in
      let payload = #"{"password": "hunter2", "a": {"token": 7}, "user": "u"}"#
      let result = try await host.cli("submit", "echo", "--payload", payload, "--wait", "--json")
      #expect(result.status == 0 && result.output.contains("hunter2"), "the handler gets it, and this one puts it into its output")
      let listed = try await host.cli("tasks", "list", "--identifier", "echo", "--json").json()["requests"]
      let id = try #require(listed?.array.first?["id"]?.string)
      let shown = try await host.cli("tasks", "show", id, "--json")
      #expect(
        shown.output.contains("•••") && !shown.output.contains("hunter2") && shown.output.contains(#""token": "•••""#), "\(shown.output)")
      let refused = try await host.cli("tasks", "list", "payload.password:hunter2")
      #expect(refused.status == 6 && refused.errors.contains("is redacted by the configuration"), "\(refused.errors)")
    }
  }
}
