import Foundation
import Glibc
import TestSupport
import Testing

/// `taskhost config`, with the real program.
@Suite("config", .timeLimit(.minutes(20)))
struct ConfigCommandTests {
  @Test("check reports the errors of run, word for word, with line and key, and exits 78")
  func errors() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file(
        "taskhost.toml", "plugin_directorys = [\"plugins\"]\nmax_concurrent_runs = 0\n[plugin.\"a\"]\nschedule = \"sometimes\"\n")
      let run = try await host.failure()
      let check = try await host.cli("config", "check")
      #expect(run.status == 78 && check.status == 78)
      let problems = run.errors.split(separator: "\n").map { $0.dropFirst("taskhost: \(host.directory.path)/".count) }
      #expect(problems.count == 3)
      for problem in problems { #expect(check.output.contains("✗ \(problem)"), "\(problem): \(check.output)") }
      #expect(check.output.hasSuffix("taskhost.toml: 3 failures: a host would not start\n"), "\(check.output)")

      let json = try await host.cli("config", "check", "taskhost.toml", "--json")
      let findings = try json.json()["findings"]?.array ?? []
      #expect(json.status == 78 && findings.map { $0["line"]?.integer } == [1, 2, 4])
      #expect(findings.last?["key"]?.string == "plugin.a.schedule" && findings[0]["message"]?.string?.contains("did you mean") == true)
      let absent = try await host.cli("config", "check", "nowhere.toml")
      #expect(absent.status == 78 && absent.output.contains("nowhere.toml: cannot be read: No such file"), "\(absent)")
      #expect(!FileManager.default.fileExists(atPath: host.directory("state")), "nothing was begun")
    }
  }

  @Test("check looks at what the configuration names: refused files, programs, keys; warnings alone exit 0, as run would start")
  func named() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.directory.file("plugins/libBroken.so", "no library")
      try host.configure("[command.backup]\nrun = [\"no-such-backup\"]\nschedule = \"every 1h\"\n")
      let check = try await host.cli("config", "check")
      #expect(check.status == 0, "\(check)")
      #expect(check.output.contains("libBroken.so") && check.output.contains("no-such-backup is in no folder of PATH"), "\(check.output)")
      #expect(check.output.contains("-> "), "\(check.output)")
      try await host.start()
      #expect(try await host.terminate().status == 0)

      try host.configure("require_signatures = true\n[[trusted_keys]]\nfile = \"gone.pub\"\nidentifiers = [\"*\"]\n")
      let keys = try await host.cli("config", "check", "--json")
      let starts = try keys.json()["starts"]?.bool
      #expect(keys.status == 78 && starts == false, "\(keys)")
      #expect(try await host.failure().status == 78)
    }
  }

  @Test("a pipe, a folder or a link that goes in circles is no configuration and no reason for the defaults; nobody waits for a writer")
  func kinds() async throws {
    try await HostProcess.prepare { host in
      let file = host.directory("taskhost.toml")
      unlink(file)
      for (make, reason) in [
        ({ mkfifo(file, 0o600) }, "is a pipe, not a file"), ({ mkdir(file, 0o700) }, "Is a directory"),
        ({ symlink("taskhost.toml", file) }, "Too many levels"), ({ symlink("nowhere.toml", file) }, "No such file"),
      ] as [(() -> Int32, String)] {
        #expect(make() == 0)
        for arguments in [
          ["config", "check"], ["config", "check", file], ["doctor", "--offline"], ["config", "diff"], ["store", "check"],
        ] {
          let result = try await host.cli(arguments)
          #expect(result.status != 0 && (result.output + result.errors).contains(reason), "\(arguments): \(result)")
        }
        let installed = try await host.cli("plugins", "install", "x.so", "--config", file)
        #expect(installed.status == 1, "\(installed)")
        #expect(remove(file) == 0)
      }
    }
  }

  @Test("check does not look into the state directory, which may be closed to whoever changes the file; doctor does")
  func closedState() async throws {
    try await HostProcess.prepare { host in
      try host.configure("[control]\nlisten = \"127.0.0.1:0\"\n")
      try host.directory.folder("state")
      try host.directory.file("state/control.sock", "no socket")
      try host.directory.file("state/tokens", "no token")
      let check = try await host.cli("config", "check")
      #expect(!check.output.contains("control.sock") && !check.output.contains("state/tokens"), "\(check)")
      let doctor = try await host.cli("doctor", "--offline")
      #expect(doctor.status == 1 && doctor.output.contains("control.sock"), "\(doctor)")
    }
  }

  @Test(
    "a user to whom files are closed is told what was not checked, and exits with 0", .enabled(if: geteuid() == 0, "becomes another user"))
  func closedFiles() async throws {
    try await HostProcess.prepare { host in
      #expect(try await host.cli("store", "key", "store.key").status == 0)
      try host.configure("max_pending = 5\n[encryption]\nkey_file = \"store.key\"\n")
      try host.directory.folder("state")
      chmod(host.directory("state"), 0o700)
      chmod(host.directory.path, 0o755)
      chmod(host.directory("taskhost.toml"), 0o644)
      func check() async throws -> Program.Result {
        try await Program.run(
          "/usr/bin/env",
          ["setpriv", "--reuid", "65534", "--clear-groups", try BuiltProgram.taskhost, "config", "check", host.directory("taskhost.toml")])
      }
      let closed = try await check()
      #expect(closed.status == 0, "\(closed)")
      #expect(closed.output.contains("not checked: \(host.directory("store.key")) is closed to user 65534"), "\(closed)")
      #expect(closed.output.contains("not checked: \(host.directory("state")) is closed to user 65534"), "\(closed)")
      // What that user can see to be wrong is wrong.
      try host.directory.file("taskhost.toml", "max_pending = 0\n")
      #expect(try await check().status == 78)
    }
  }

  @Test("reference shows a key with default, type and sentence; an unknown one is a usage error with the nearest")
  func reference() async throws {
    try await HostProcess.prepare { host in
      let one = try await host.cli("config", "reference", "plugin.*.limits.memory")
      #expect(one.output == "plugin.*.limits.memory = \"256MiB\"\n    Its memory.\n    size, 16MiB to 16TiB\n", "\(one)")
      let unknown = try await host.cli("config", "reference", "plugin_directorys")
      #expect(unknown.status == 2 && unknown.errors.contains("did you mean \"plugin_directories\"?"), "\(unknown)")
      let all = try await host.json("config", "reference")["keys"]?.array ?? []
      #expect(all.count > 200)
      #expect(all.first { $0["key"]?.string == "history.keep" }?["default"]?.string == "\"7d\"")
    }
  }

  @Test(
    "diff shows what differs from the defaults, and from a running host, without secrets; --against asks for no restart where none is needed"
  )
  func diff() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("max_pending = 5\n[plugin.\"test.twin\".settings]\nkey = \"xSECRETx\"\n")
      let text = host.directory.text("taskhost.toml")
      let defaults = try await host.cli("config", "diff")
      #expect(defaults.status == 0 && defaults.output.contains("max_pending") && defaults.output.contains("10000"), "\(defaults)")
      #expect(defaults.output.contains("•••") && !defaults.output.contains("xSECRETx"), "\(defaults)")
      let nobody = try await host.cli("config", "diff", "--against", host.socket)
      #expect(nobody.status == 5, "\(nobody)")

      try await host.start()
      let same = try await host.cli("config", "diff", "--against", host.socket)
      #expect(same.output.contains("the host has loaded what the file says") && same.output.contains("test.twin\".settings"), "\(same)")
      try host.directory.file("taskhost.toml", text.replacing("max_pending = 5", with: "max_pending = 6\ndrain_timeout = \"5s\""))
      let changed = try await host.json("config", "diff", "--against", host.socket)["changes"]?.array ?? []
      #expect(changed.map { $0["key"]?.string }.prefix(2) == ["drain_timeout", "max_pending"], "\(changed)")
      #expect(changed.first?["loaded"]?.string == "\"30s\"" && changed.first?["file"]?.string == "\"5s\"", "\(changed)")
      let check = try await host.cli("config", "check", "--against", host.socket)
      #expect(check.status == 0 && check.output.contains("take effect when the host is started again"), "\(check)")
    }
  }

  @Test("check --against names what a running host would leave behind: work of a command that is gone, another state directory")
  func takeover() async throws {
    try await HostProcess.prepare { host in
      try host.configure("[command.\"com.example.backup\"]\nrun = [\"true\"]\n[command.idle]\nrun = [\"true\"]\n")
      try await host.start()
      #expect(try await host.cli("submit", "com.example.backup", "--after", "1h").status == 0)
      let same = try await host.cli("config", "check", "--against", host.socket)
      #expect(same.status == 0 && same.output.contains("nothing is wrong: a host would start"), "\(same)")
      try host.directory.file("other.toml", "plugin_directories = []\nstate_directory = \"elsewhere\"\n[command.idle]\nrun = [\"true\"]\n")
      let other = try await host.cli("config", "check", "other.toml", "--against", host.socket, "--json")
      let findings = try other.json()["findings"]?.array ?? []
      #expect(other.status == 0 && findings.allSatisfy { $0["verdict"]?.string == "warning" }, "\(other)")
      #expect(findings.contains { $0["subject"]?.string == "com.example.backup" }, "\(findings)")
      #expect(findings.contains { $0["message"]?.string?.contains("/elsewhere") == true }, "\(findings)")
      #expect(!findings.contains { $0["subject"]?.string == "idle" }, "\(findings)")
    }
  }
}
