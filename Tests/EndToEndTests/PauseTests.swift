import Foundation
import Glibc
import TestSupport
import Testing

/// Pauses of everything and of filters, on the real host and command line.
@Suite("Pauses", .timeLimit(.minutes(20)))
struct PauseTests {
  @Test("everything waits, also over a restart, until it is resumed; why, status and metrics say so, and nothing of it is overdue")
  func everything() async throws {
    try await HostProcess.prepare { host in
      try await host.add("script.so", "script")
      try host.configure("overdue_after = \"1s\"\n")
      try await host.start()
      let waiting = try await host.submit("result 0", ["--after", "1h"])
      let dry = try await host.cli("pause", "--dry-run", "--why", "the database moves")
      #expect(dry.status == 0 && dry.output == "everything would be paused: 1 request waits\n", "\(dry)")
      let paused = try await host.cli("pause", "--why", "the database moves")
      #expect(paused.output == "everything is paused: 1 request waits\nto end it: taskhost resume 1\n", "\(paused)")
      let id = try await host.submit("result 0")
      let why = try await host.cli("tasks", "why", id).output
      #expect(why.contains("(user \(getuid())) has paused everything, until somebody ends it: the database moves"), "\(why)")
      #expect(why.contains("taskhost resume 1"), "\(why)")
      #expect(try await host.terminate().status == 0)
      try await host.start()
      // It is due for longer than overdue_after: nothing but time brings that about.
      try await Task.sleep(for: .milliseconds(1200))
      let status = try await host.cli("status")
      #expect(status.status == 0 && status.output.contains("the database moves"), "\(status.output)")
      #expect(try await host.json("status")["problems"]?.array.map { $0["kind"]?.string } == ["paused"])
      let socket = host.socket
      let metrics = try await onThread { try SocketClient(socket).request("GET", "/metrics") }
      #expect(metrics.body.contains("\ntaskhost_pauses 1\n"))
      #expect(try await host.request(id, is: "pending")["state"]?.string == "pending")
      let resumed = try await host.cli("resume")
      #expect(resumed.output == "everything is resumed\n", "\(resumed)")
      try await host.request(id, is: "succeeded")
      #expect(try await host.cli("tasks", "cancel", waiting).status == 0)
    }
  }

  @Test("a filter holds what matches, and other work goes on meanwhile")
  func filter() async throws {
    try await HostProcess.run { host in
      let paused = try await host.cli("pause", "tag:nightly", "--until", "1h")
      #expect(paused.status == 0 && paused.output.hasPrefix("tag:nightly is paused until"), "\(paused)")
      let held = try await host.submit("result 0", ["--tag", "nightly"])
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let list = try await host.cli("pause", "--list")
      #expect(list.output.contains("tag:nightly"), "\(list.output)")
      #expect(try await host.json("tasks", "why", held)["details"]?.array.first?["gate"]?.string == "pause")
      #expect(try await host.cli("resume", "tag:nightly").output == "tag:nightly is resumed\n")
      try await host.request(held, is: "succeeded")
      #expect(try await host.cli("pause", "--list").errors == "nothing is paused\n")
    }
  }

  @Test("a pause ends when its time is over, by the host's own clock, and what it held begins")
  func until() async throws {
    try await HostProcess.run { host in
      #expect(try await host.cli("pause", "tag:nightly", "--until", "2s").status == 0)
      let held = try await host.submit("result 0", ["--tag", "nightly"])
      try await host.request(held, is: "succeeded")
      try await host.current.line(with: "the pause 1 of tag:nightly has ended: its time is over")
    }
  }

  @Test("what cannot be done is refused with the reason")
  func refusals() async throws {
    try await HostProcess.run { host in
      let wrong = try await host.cli("pause", "tags:x")
      #expect(
        wrong.status == 6 && wrong.errors.contains("at character 1: \"tags\" is not a word of filters; did you mean \"tag\"?"), "\(wrong)")
      #expect(try await host.cli("pause", "--until", "soon").status == 2)
      #expect(try await host.cli("pause", "--list", "tag:x").status == 2)
      let none = try await host.cli("resume")
      #expect(none.status == 6 && none.errors.contains("there is no pause of everything; nothing is paused"), "\(none)")
      #expect(try await host.cli("resume", "--all", "7").status == 2)
      for command in ["pause", "resume"] {
        let empty = try await host.cli(command, "")
        #expect(empty.status == 2 && empty.errors.contains("The filter is empty"), "\(empty)")
      }
      #expect(try await host.cli("pause", "--list").errors == "nothing is paused\n")
    }
  }
}
