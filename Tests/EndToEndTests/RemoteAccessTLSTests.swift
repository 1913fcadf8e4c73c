import Foundation
import TestSupport
import Testing

/// A real host that speaks TLS, and the Python client.
@Suite("Remote access with TLS", .timeLimit(.minutes(20)))
struct RemoteAccessTLSTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private func python(_ port: Int, _ authority: TestAuthority, _ program: String, token: String) async throws -> Program.Result {
    let lines = """
      import sys; sys.path.insert(0, "\(Self.root.path)/SDK/Python")
      import taskhost_client
      host = taskhost_client.Host(url="https://127.0.0.1:\(port)", cafile="\(authority.certificate)")

      """
    return try await Program.run(
      "/usr/bin/env", ["TASKHOST_TOKEN=\(token)", "/usr/bin/python3", "-W", "error", "-c", lines + program])
  }

  @Test("a host speaks TLS with the configured certificate, and with a renewed one without a restart")
  func renewed() async throws {
    try await HostProcess.prepare { host in
      let authority = try await TestAuthority(in: host.directory.path)
      let other = try await TestAuthority(in: host.directory.path, name: "other")
      let (first, second) = (try await authority.pair("first"), try await other.pair("second", days: 3))
      try await host.add("script.so", "script")
      try host.configure("[control]\nlisten = \"0.0.0.0:0\"\ncertificate = \"first.pem\"\nkey = \"first.key\"")
      try await host.start()
      let port = try await host.remotePort()
      let made = try await host.cli("tokens", "create", "--role", "operate")
      let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
      try await host.current.line(with: "the tokens have changed")
      let program = """
        print(host.submit_and_wait("test.script", "result 0")["outcome"])
        with host.hold("a test"): print(len(host.status()["assertions"]))
        """
      let done = try await python(port, authority, program, token: token)
      #expect(done.output == "succeeded\n1\n", "\(done.output)\(done.errors)")
      #expect(try await host.cli("status").output.contains("certificate") == false)
      let untrusted = try await python(port, other, "host.status()", token: token)
      #expect(untrusted.errors.contains("CERTIFICATE_VERIFY_FAILED"), "\(untrusted.errors)")
      for (new, old) in [(second.certificate, first.certificate), (second.key, first.key)] {
        #expect(rename(new, old) == 0)
        if new == second.certificate { try await host.current.line(with: "the certificate from before stays") }
      }
      try await host.current.line(with: "the certificate has changed")
      let again = try await python(port, other, program, token: token)
      #expect(again.output == "succeeded\n1\n", "\(again.output)\(again.errors)")
      #expect(try await host.cli("status").output.contains("- certificate: the certificate \(first.certificate) ends at"))
      try await host.terminate()
    }
  }

  @Test("files that cannot be used end the launch with exit 78, all flaws at once")
  func unusable() async throws {
    try await HostProcess.prepare { host in
      let pair = try await TestAuthority(in: host.directory.path).pair("tls")
      try host.configure("[control]\nlisten = \"127.0.0.1:0\"\ncertificate = \"none.pem\"\nkey = \"tls.key\"")
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: pair.key)
      let failed = try await host.failure()
      #expect(failed.status == 78, "\(failed.errors)")
      #expect(failed.errors.contains("none.pem does not exist") && failed.errors.contains("chmod 600 \(pair.key)"), "\(failed.errors)")
    }
  }
}
