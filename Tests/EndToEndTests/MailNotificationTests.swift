import Foundation
import TestSupport
import Testing

/// `[[notify]]` with `mail`: a sendmail that writes down what it is given.
@Suite("Notifications by mail", .timeLimit(.minutes(20)))
struct MailNotificationTests {
  /// A host whose sendmail is a script.
  private func with(_ script: String, _ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.directory.file("sendmail", Data("#!/bin/sh\n\(script)".utf8), mode: 0o755)
      try host.configure(
        """
        [[notify]]
        name = "mail"
        on = ["failed"]
        mail = "ops@example.org"
        mail_from = "taskhost@example.org"
        sendmail = "sendmail"
        retry = { attempts = 500, initial = "100ms", maximum = "200ms" }

        """)
      try await host.start()
      try await body(host)
    }
  }

  @Test("sendmail gets a message with its headers, and no word of a plugin becomes one")
  func mail() async throws {
    try await with("cd \"${0%/*}\"; echo \"arguments: $*\" > mail; cat >> mail; echo done >> mail\n") { host in
      _ = try await host.run("message x\\r\\nBcc: all@example.org ä;result 4")
      let lines = try await ToldFile(path: host.directory("mail")).lines(until: "done")
      #expect(lines[0] == "arguments: -t -i")
      #expect(lines[1] == "From: taskhost@example.org" && lines[2] == "To: ops@example.org", "\(lines)")
      #expect(lines[3].hasPrefix("Subject: ") && !lines.contains { $0.hasPrefix("Bcc") }, "\(lines)")
      let blank = try #require(lines.firstIndex(of: ""))
      let text = try #require(Data(base64Encoded: lines[(blank + 1)...].dropLast().joined()))
      #expect(String(decoding: text, as: UTF8.self).contains("test.script failed for good: x"))
    }
  }

  @Test("a mail system that is busy is asked again, one that refuses is not")
  func codes() async throws {
    let script = """
      cd "${0%/*}"; cat > /dev/null
      [ -e ready ] || { touch ready; echo queue full >&2; exit 75; }
      echo no such user >&2; exit 67

      """
    try await with(script) { host in
      _ = try await host.run("result 4")
      try await host.current.line(with: "run retried", "queue full")
      try await host.current.line(with: "run failed", "no such user")
    }
  }

  @Test("a mail system that is missing fails each attempt, for now, and the message says what to do")
  func missing() async throws {
    try await with("") { host in
      try FileManager.default.removeItem(atPath: host.directory("sendmail"))
      _ = try await host.run("result 4")
      try await host.current.line(with: "run retried", "No such file or directory: install a mail system")
    }
  }
}
