import Foundation
import TestSupport
import Testing

/// `taskhost token ACCOUNT`: a valid token now, and never through the host.
@Suite("Token command", .timeLimit(.minutes(20)))
struct TokenCommandTests {
  @Test("prints the token as it is while it is valid for long enough, and refreshes it otherwise")
  func valid() async throws {
    try await TokenHost.run { at in
      // Not due by the margin, so that only the command asks for more.
      try at.signIn(expiresIn: 1500)
      let present = try await at.host.cli("token", "mail")
      #expect(present.output == "ACCESS-first\n", "\(present.errors)")
      #expect(present.status == 0)
      #expect(present.errors == "")
      #expect(try await at.server() == 0)
      let fresh = try await at.host.cli("token", "mail", "--min-validity", "30m", "--json")
      #expect(fresh.status == 0, "\(fresh.errors)")
      let answer = try fresh.json()
      #expect(answer["access_token"]?.string == "ACCESS-number-1")
      #expect(answer["account"]?.string == "mail")
      let expiry = try #require(answer["expires_at_unix_ms"]?.integer)
      #expect(abs(Double(expiry) / 1000 - Date().timeIntervalSince1970 - 3600) < 60)
      #expect(answer["expires_at"]?.string?.hasSuffix("Z") == true)
    }
  }

  @Test("callers that wait at the same time cost one exchange, and all get its token")
  func shared() async throws {
    try await TokenHost.run { at in
      try at.signIn(expiresIn: 1500)
      try await at.server("/hold")
      let ask: @Sendable () async throws -> String = { try await at.host.cli("token", "mail", "--min-validity", "30m").output }
      let outputs = try await withThrowingTaskGroup(of: String.self) { group in
        group.addTask(operation: ask)
        try await at.server("/begun")
        for _ in 0..<7 { group.addTask(operation: ask) }
        let live = try await at.host.json("tasks", "list", "--identifier", TokenHost.identifier, "--state", "running")
        #expect(live["requests"]?.array.compactMap { $0["unique_key"]?.string } == ["token/mail"])
        try await at.server("/release")
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outputs == Array(repeating: "ACCESS-number-1\n", count: 8))
      #expect(try await at.server() == 1)
    }
  }

  @Test("says what is wrong and what to do: an unknown account, one that is signed out, and one whose server refuses")
  func trouble() async throws {
    try await TokenHost.run { at in
      let unknown = try await at.host.cli("token", "male")
      #expect(unknown.status == 1)
      #expect(unknown.errors.contains("taskhost: male: no account has this name (known: mail)"), "\(unknown.errors)")
      let absent = try await at.host.cli("token", "mail")
      #expect(absent.status == 1)
      #expect(absent.errors.contains("mail: signed out: ") && absent.errors.contains("sign in"), "\(absent.errors)")
      #expect(absent.output == "")

      try at.signIn(expiresIn: 1500)
      let long = try await at.host.cli("token", "mail", "--min-validity", "2h")
      #expect(long.status == 1)
      #expect(long.errors.contains("mail: its server gives tokens that are valid for less than 2h (ask for less"), "\(long.errors)")
      #expect(try await at.host.cli("token", "mail").output == "ACCESS-number-1\n")

      // Not one that the server knows.
      try Data(#"{"access_token": "x", "refresh_token": "stolen"}"#.utf8).write(to: URL(filePath: at.file))
      let refused = try await at.host.cli("token", "mail")
      #expect(refused.status == 1)
      #expect(refused.errors.contains("mail: signed out: invalid_grant"), "\(refused.errors)")
    }
  }

  @Test("exits 5 without a host, 6 without the plugin, and 2 for what is not a duration")
  func otherFailures() async throws {
    try await HostProcess.run { host in
      #expect(try await host.cli("token", "mail").status == 6)
      #expect(try await host.cli("token", "mail", "--min-validity", "2d").status == 2)
      #expect(try await host.cli("token", "mail", "--timeout", "soon").status == 2)
      try await host.terminate()
      #expect(try await host.cli("token", "mail").status == 5)
    }
  }

  @Test("no token is in the store, the log, the run's record or another file of the host")
  func secrecy() async throws {
    try await TokenHost.run("[log]\nlevel = \"trace\"\n") { at in
      try at.signIn(expiresIn: 1500)
      #expect(try await at.host.cli("token", "mail", "--min-validity", "30m").output == "ACCESS-number-1\n")
      let runs = try await at.host.cli("runs", "list", "--json")
      let shown = try await at.host.cli("tasks", "list", "--json")
      try await at.host.terminate()
      for text in [runs.output, shown.output, at.host.current.lines.joined()] {
        #expect(!text.contains("ACCESS-") && !text.contains("REFRESH-"))
      }
      let state = at.host.directory("state")
      let files = try #require(FileManager.default.enumerator(atPath: state)).compactMap { $0 as? String }
      #expect(files.contains { $0.hasSuffix(".sqlite") || $0.contains("taskhost") }, "\(files)")
      for file in files {
        guard let bytes = FileManager.default.contents(atPath: state + "/" + file) else { continue }
        for secret in ["ACCESS-number", "ACCESS-first", "REFRESH-number", "REFRESH-first"] {
          #expect(bytes.range(of: Data(secret.utf8)) == nil, "\(secret) is in \(file)")
        }
      }
    }
  }
}
