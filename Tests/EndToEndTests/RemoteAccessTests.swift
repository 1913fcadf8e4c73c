import Foundation
import TestSupport
import Testing

/// A real host that listens on TCP, tokens made by the command line, and the Python client.
@Suite("Remote access", .timeLimit(.minutes(20)))
struct RemoteAccessTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  /// What a program prints that has a client as `host`.
  private func python(_ port: Int, _ token: String, _ program: String) async throws -> Program.Result {
    let lines = """
      import sys; sys.path.insert(0, "\(Self.root.path)/SDK/Python")
      import taskhost_client
      host = taskhost_client.Host(url="http://127.0.0.1:\(port)")

      """
    return try await Program.run(
      "/usr/bin/env", ["TASKHOST_TOKEN=\(token)", "/usr/bin/python3", "-W", "error", "-c", lines + program])
  }

  /// Makes a token that the host knows when this returns.
  private func token(_ host: HostProcess, _ arguments: String...) async throws -> String {
    let made = try await host.cli(["tokens", "create"] + arguments)
    guard made.status == 0 else { throw TestFailure("tokens create: \(made.errors)") }
    let token = made.output.trimmingCharacters(in: .whitespacesAndNewlines)
    try await host.current.line(with: "the tokens have changed", String(token.dropFirst(3).prefix(8)))
    return token
  }

  @Test("a client over TCP does what its token permits, from the configured file")
  func tokens() async throws {
    let configuration = """
      [control]
      listen = "127.0.0.1:0"
      token_file = "secrets.jsonl"
      names = ["tasks.example.org"]
      """
    try await HostProcess.run(configuration) { host in
      let port = try await host.remotePort()
      let token = try await token(host, "--role", "submit", "--identifier", "test.*")
      let done = try await python(
        port, token,
        """
        print(host.submit_and_wait("test.script", "result 0")["outcome"])
        print(host.notify("test.orders")["event"])
        for refused in [lambda: host.status(), lambda: host.notify("orders"), lambda: host.submit("org.other")]:
          try: refused()
          except taskhost_client.Refused as error: print(error.status)
        """)
      #expect(done.output == "succeeded\ntest.orders\n403\n403\n403\n", "\(done.output)\(done.errors)")
      let named = try await Program.run(
        "/usr/bin/env",
        [
          "python3", "-c",
          """
          import http.client, sys
          connection = http.client.HTTPConnection("127.0.0.1", \(port))
          for name in ["tasks.example.org", "evil.example.org"]:
            connection.request("GET", "/v1/requests", headers={"Host": name, "Authorization": "Bearer " + sys.argv[1]})
            answer = connection.getresponse(); answer.read(); print(answer.status)
          """, token,
        ])
      #expect(named.output == "200\n421\n", "\(named.errors)")
      let listed = try await host.cli("tokens", "list")
      #expect(listed.output.contains("test.*") && !listed.output.contains(token))
      #expect(FileManager.default.fileExists(atPath: host.directory("secrets.jsonl")))
      #expect(try await host.cli("tokens", "revoke", token).status == 0)
      try await host.current.line(with: "the tokens have changed", "\"revoked\":\"\(token.dropFirst(3).prefix(8))\"")
      let refused = try await python(port, token, "host.request('x')")
      #expect(refused.status != 0 && refused.errors.contains("the token is not valid"), "\(refused.errors)")
      try await host.terminate()
      #expect(!host.current.lines.contains { $0.contains(token.suffix(43)) })
    }
  }

  @Test("tokens are made without a host; unknown roles, patterns and ids are refused with what would be right")
  func offline() async throws {
    try await HostProcess.prepare { host in
      try host.configure("")
      let made = try await host.cli("tokens", "create", "--role", "read", "--json")
      let json = try made.json()
      let id = try #require(json["id"]?.string)
      #expect(json["token"]?.string?.hasPrefix("th_\(id)_") == true && json["role"]?.string == "read")
      #expect(FileManager.default.fileExists(atPath: host.directory("state/tokens")))
      let role = try await host.cli("tokens", "create", "--role", "reed")
      #expect(role.status == 2 && role.errors.contains("did you mean \"read\"?"), "\(role.errors)")
      #expect(try await host.cli("tokens", "create", "--role", "read", "--identifier", "*.x").status == 2)
      let unknown = try await host.cli("tokens", "revoke", "aaaaaaaa", id)
      #expect(unknown.status == 1 && unknown.errors.contains("no such token"), "\(unknown.errors)")
      #expect(try await host.cli("tokens", "list").output.contains(id), "none was revoked")
      #expect(try await host.cli("tokens", "revoke", id).status == 0)
      #expect(try await host.cli("tokens", "list", "--json").json()["tokens"]?.array.isEmpty == true)
    }
  }

  @Test("a token file that others may read, and a port in use, end the launch with exit 78 and say what to do")
  func unusable() async throws {
    try await HostProcess.prepare { host in
      try host.configure("[control]\nlisten = \"127.0.0.1:0\"")
      #expect(try await host.cli("tokens", "create", "--role", "read").status == 0)
      try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: host.directory("state/tokens"))
      let failed = try await host.failure()
      #expect(failed.status == 78 && failed.errors.contains("chmod 600"), "\(failed.errors)")
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: host.directory("state/tokens"))
      try await host.start()
      let port = try await host.remotePort()
      try host.configure("[control]\nlisten = \"127.0.0.1:\(port)\"")
      let second = try await host.failure(["--state", host.directory("other")])
      #expect(second.status == 78 && second.errors.contains("another process has the port"), "\(second.errors)")
    }
  }
}
