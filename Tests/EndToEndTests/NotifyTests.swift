import Foundation
import Glibc
import TestSupport
import Testing

/// `[[notify]]`: programs and desktops are told of what happens, and never hold the host up.
@Suite("Notifications", .timeLimit(.minutes(20)))
struct NotifyTests {
  /// A host with a handler of the kind `continued`.
  private func with(
    _ notify: (HostProcess) -> String, _ body: (HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare { host in
      try await host.add("continued.so", "script", ["-DIDENTIFIER=\"test.continued\"", "-DKIND=TASKHOST_CONTINUED"])
      try host.configure(notify(host))
      try await host.start()
      try await body(host)
    }
  }

  @Test("progress and the end of a continued run go to the command, by environment and standard input")
  func command() async throws {
    try await with({ host in
      let told = host.directory("told")
      return """
        [[notify]]
        on = ["continued"]
        command = ["/bin/sh", "-c", "printf '%s|%s|' \\"$TASKHOST_PERCENT\\" \\"$TASKHOST_OUTCOME\\" >> \(told); cat >> \(told)"]

        """
    }) { host in
      let run = try await host.run("progress 3 10", identifier: "test.continued")
      #expect(run["outcome"]?.string == "succeeded", "\(run)")
      let told = host.directory("told")
      let all = try await onThread {
        let follower = try LineProgram(["/usr/bin/tail", "-n", "+1", "-F", told])
        defer { follower.send(SIGKILL) }
        var all: [String] = []
        repeat { all.append(try follower.line()) } while !(all.last ?? "").contains("|succeeded|{")
        return all
      }
      let end = try JSON(parsing: try #require(all.last?.split(separator: "|", omittingEmptySubsequences: false).last))
      #expect(end["event"]?.string == "continued")
      #expect(end["identifier"]?.string == "test.continued")
      #expect(end["progress"]?["total"]?.integer == 10)
      #expect(end["percent"]?.integer == 30)
      #expect(all.allSatisfy { $0.hasPrefix("30|") || $0.hasPrefix("|") }, "told: \(all)")
    }
  }

  @Test("a command that hangs or fails holds up no run and no shutdown, and is named in the log")
  func hangs() async throws {
    try await with({ host in
      """
      [[notify]]
      on = ["continued"]
      command = ["/bin/sh", "-c", "sleep 600 & wait"]
      [[notify]]
      on = ["continued", "quarantined"]
      command = ["/bin/false"]

      """
    }) { host in
      for _ in 0..<3 { _ = try await host.run("progress 3 10", identifier: "test.continued") }
      try await host.current.line(with: "notify[1]: a notification of test.continued was not told: /bin/false ended with code 1")
      #expect(try await host.terminate().status == 0)
      #expect(host.current.lines.contains { $0.contains("notify[0]") && $0.contains("was killed") }, "\(host.current.lines.suffix(5))")
    }
  }

  @Test("a bus without a desktop costs a line in the log, and no run")
  func bus() async throws {
    try await with({ host in
      """
      [[notify]]
      on = ["continued"]
      bus = "unix:path=\(host.directory("no-bus"))"

      """
    }) { host in
      _ = try await host.run("progress 3 10", identifier: "test.continued")
      try await host.current.line(with: "notify[0]: a notification of test.continued was not told: ", "no-bus: No such file")
    }
  }
}
