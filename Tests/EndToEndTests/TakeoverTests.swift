import Foundation
import Glibc
import TestSupport
import Testing

/// What `taskhost takeover` writes, in a host.
@Suite("Commands of a takeover", .timeLimit(.minutes(10)))
struct TakeoverTests {
  @Test("lines of a crontab run in a host as cron ran them: shell, input, escapes, variables and folder")
  func runs() async throws {
    try await HostProcess.prepare { host in
      try host.directory.folder("out")
      let out = host.directory("out")
      let lines = [
        "SHELL=/bin/bash", "HOME=\(out)", "GREETING='  hello  '", "PATH=/usr/bin:/bin", "MAILTO=ops@example.org",
        "0 0 1 1 * cat > input%one%50\\% two%%end", "@yearly [[ 1 == 1 ]] && printf '\\%s|' \"$GREETING\" \"$PATH\" \"$PWD\" > shell",
        "0 0 29 2 * echo 'it'\\''s' \\\\ > quotes", "@reboot exit 3",
      ]
      try host.directory.file("crontab", lines.joined(separator: "\n") + "\n")
      let applied = try await Program.run(
        try BuiltProgram.taskhost, ["takeover", "cron", "--file", host.directory("crontab"), "--apply", "--into", out])
      #expect(applied.status == 0, "\(applied.output) \(applied.errors)")
      try host.configure(try String(contentsOfFile: "\(out)/takeover-cron.toml", encoding: .utf8))
      try await host.start()
      for identifier in ["cron.cat", "cron.printf", "cron.echo"] {
        let run = try await host.cli(["submit", identifier, "--wait"])
        #expect(run.status == 0, "\(identifier): \(run.output) \(run.errors)")
      }
      func content(_ name: String) throws -> String { try String(contentsOfFile: "\(out)/\(name)", encoding: .utf8) }
      #expect(try content("input") == "one\n50% two\n\nend\n")
      #expect(try content("shell") == "  hello  |/usr/bin:/bin|\(out)|")
      #expect(try content("quotes") == "it's  \n")
      let failed = try await host.cli(["submit", "cron.exit", "--wait"])
      #expect(failed.status == 1, "\(failed.output) \(failed.errors)")
      let listed = try await host.json("tasks", "list")["requests"]?.array ?? []
      let yearly = try #require(listed.first { $0["identifier"]?.string == "cron.cat" && $0["cron"]?.string != nil })
      #expect(yearly["cron"]?.string == "0 0 1 1 *")
    }
  }

  /// As root looks at the configuration of a service that runs as another user, which its state directory belongs to.
  @Test("root takes over what the host's user may run, and is told of commands that this user cannot run", .enabled(if: geteuid() == 0))
  func otherUser() async throws {
    try await HostProcess.prepare { host in
      let folder = try host.directory.folder("machine/etc/cron.d")
      try host.directory.folder("into")
      try host.directory.file("machine/etc/cron.d/site", Data("0 2 * * * daemon /bin/true\n0 3 * * * root /bin/false\n".utf8), mode: 0o644)
      try host.directory.folder("owned")
      #expect(chown(host.directory("owned"), 1, 1) == 0)
      let configuration = try host.directory.file("service.toml", "state_directory = \"owned\"\n")
      let root = host.directory("machine")
      func takeover(_ more: String...) async throws -> Program.Result {
        try await Program.run(try BuiltProgram.taskhost, ["takeover", "cron", "--root", root, "--config", configuration] + more)
      }
      let shown = try await takeover()
      #expect(shown.status == 1 && shown.output.contains("! not carried over: it runs as root, and the host as daemon"), "\(shown)")
      let applied = try await takeover("--apply", "--into", host.directory("into"))
      #expect(applied.status == 1, "\(applied)")
      let left = try String(contentsOfFile: "\(folder)/site", encoding: .utf8)
      #expect(left == "# taskhost takeover: 0 2 * * * daemon /bin/true\n0 3 * * * root /bin/false\n")

      try host.directory.file("service.toml", "state_directory = \"owned\"\n[command.a]\nrun = [\"/bin/true\"]\nuser = \"root\"\n")
      let checked = try await Program.run(try BuiltProgram.taskhost, ["config", "check", configuration])
      #expect(checked.status == 78 && checked.output.contains("it runs as \"root\", and the host as daemon"), "\(checked)")
    }
  }
}
