import Foundation
import Glibc
import TestSupport
import Testing

/// Events that the host raises itself.
@Suite("Events of the host", .timeLimit(.minutes(20)))
struct HostEventTests {
  private func withCommands(_ text: String, _ body: (HostProcess) async throws -> Void) async throws {
    try await HostProcess.prepare { host in
      try host.configure(text)
      try await host.start()
      try await body(host)
    }
  }

  @Test("a task follows another one's success, or its failure, each time")
  func follows() async throws {
    let text = """
      [command.work]
      shell = "read code; exit $code"
      [command.after]
      run = ["echo", "it", "worked"]
      schedule = "on task:work"
      [command.alarm]
      run = ["echo", "it", "failed"]
      """
    try await withCommands(text) { host in
      let alarm = try await host.cli("submit", "alarm", "--on-event", "task:work:failed")
      let id = alarm.output.trimmingCharacters(in: .whitespacesAndNewlines)
      for _ in 1...2 {
        let seen = host.current.lines.count
        let work = try await host.cli("submit", "work", "--payload", "0", "--wait")
        #expect(work.status == 0, "\(work)")
        try await host.current.line(with: "it worked", from: seen)
      }
      _ = try await host.cli("submit", "work", "--payload", "1", "--wait")
      try await host.current.line(with: "it failed")
      try await host.request(id, is: "succeeded")
      let after = try await host.json("runs", "list", "--identifier", "after")["runs"]?.array ?? []
      #expect(after.count == 2, "a failure is no success: \(after)")
    }
  }

  @Test("a task runs when a condition holds again, and not when it is first seen to hold")
  func condition() async throws {
    try await withCommands("[command.sync]\nrun = [\"echo\", \"online again\"]\nschedule = \"on condition:network\"\n") { host in
      _ = try await host.json("conditions", "set", "network=none")
      _ = try await host.json("conditions", "set", "network=held")
      try await host.current.line(with: "online again")
      let seen = host.current.lines.count
      _ = try await host.json("conditions", "set", "network=held")
      _ = try await host.json("conditions", "set", "network=none")
      _ = try await host.json("conditions", "set", "network=held")
      try await host.current.line(with: "online again", from: seen)
      try await host.terminate()
      #expect(host.current.lines.count { $0.contains("online again") } == 2)
    }
  }

  @Test("host:launched comes at each launch, host:booted at the first one since the machine booted")
  func launched() async throws {
    let text = """
      [command.hello]
      run = ["echo", "the host is here"]
      schedule = "on host:launched"
      [command.boot]
      run = ["echo", "the machine has booted"]
      schedule = "on host:booted after 10ms"
      """
    try await withCommands(text) { host in
      try await host.current.line(with: "the host is here")
      try await host.current.line(with: "the machine has booted")
      for _ in 0..<2 {
        try await host.terminate()
        try await host.start()
        try await host.current.line(with: "the host is here")
      }
      try await host.terminate()
      #expect(!host.current.lines.contains { $0.contains("the machine has booted") })
      try await host.start()
      let notified = try await host.json("notify", "host:booted")
      #expect(notified["woken"]?.integer == 1, "\(notified)")
      try await host.current.line(with: "the machine has booted")
    }
  }

  @Test("the login of a user wakes what waits for it", .enabled(if: getuid() == 0, "needs root, for a directory of its own"))
  func login() async throws {
    try await HostProcess.prepare { host in
      let folder = host.directory("systemd")
      try FileManager.default.createDirectory(atPath: folder + "/users", withIntermediateDirectories: true)
      try host.configure("[command.hello]\nrun = [\"echo\", \"good morning\"]\nschedule = \"on host:login:ada\"\n")
      try host.spawn(through: [
        "unshare", "-m", "--propagation", "private", "sh", "-c",
        "mkdir -p /run/systemd && mount --bind \(folder) /run/systemd && exec \"$@\"", "sh",
      ])
      try await host.current.line(with: "control socket open")
      for (name, number) in [("grace", 1001), ("ada", 1000)] {
        try host.directory.file("note", "NAME=\(name)\nSTATE=active\n")
        try FileManager.default.moveItem(atPath: host.directory("note"), toPath: "\(folder)/users/\(number)")
      }
      try await host.current.line(with: "good morning")
      #expect(try await host.json("status")["counters"]?["events_woken"]?.integer == 1)
    }
  }

  @Test("names that the host never raises are refused, and so is waiting for oneself")
  func refused() async throws {
    try await withCommands("[command.x]\nrun = [\"true\"]\n") { host in
      for (name, words) in [
        ("condition:net", "condition:network"), ("host:gone", "host:launched"), ("task:", "names no identifier"), ("task:x", "never stop"),
      ] {
        let result = try await host.cli("submit", "x", "--on-event", name)
        #expect(result.status == 6 && result.errors.contains(words), "\(name): \(result)")
      }
    }
    try await HostProcess.prepare { host in
      try host.directory.file(
        "taskhost.toml",
        "[command.x]\nrun = [\"true\"]\nschedule = \"on condition:net\"\n[command.y]\nrun = [\"true\"]\nschedule = \"on a b\"\n")
      let result = try await host.failure()
      #expect(result.status == 78 && result.errors.contains("taskhost.toml:3:") && result.errors.contains("taskhost.toml:6:"), "\(result)")
    }
  }
}
