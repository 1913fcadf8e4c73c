import TestSupport
import Foundation
import Glibc
import Testing

/// Faults 24 to 29: what a plugin does while it is loaded, before anything of it is called, and in its launch function. 30 to 40 are in
/// ``FaultyLaunchTests``.
@Suite("Faults 24-29: constructors", .timeLimit(.minutes(20)))
struct FaultLaunchTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// A function of `faulty_launch.c`.
    let does: String
    /// The code of its refusal; nil: it is taken.
    let code: String?
    /// Words of the refusal's sentence, one of which is there.
    let words: [String]

    init(_ name: String, _ does: String, _ code: String?, _ words: String...) {
      (testDescription, self.does, self.code, self.words) = (name, does, code, words)
    }
  }

  static let faults = [
    Fault("24 crashes", "crashes", "launch_failed", "SIGSEGV"),
    Fault("24 aborts", "aborts", "launch_failed", "SIGABRT"),
    Fault("25 sleeps for ever", "sleeps", "launch_timeout", "launch budget"),
    Fault("26 calls exit(0)", "exits", "launch_failed", "exit"),
    Fault("26 calls _exit(0)", "underscore_exits", "launch_failed", "exit"),
    Fault("27 forks and lingers", "forks", nil),
    Fault("28 prints 10 MiB", "prints", nil),
    Fault("29 kills its parent", "kills", nil),
    Fault("74 forges the message of its launch", "forges", "launch_failed", "earliest_begin: lies outside of the years 1970 to 9999"),
  ]

  struct Case: Sendable, CustomTestStringConvertible {
    let fault: Fault
    let isolation: Isolation
    var testDescription: String { "\(fault.testDescription), \(isolation)" }
  }

  /// In thread isolation too a plugin is tried in a worker first; but what a worker is not let do (27, 29), and what it prints (28), the
  /// host would do itself then: thread isolation is for plugins that are trusted as much as the host.
  static let cases = faults.flatMap { fault in
    Isolation.allCases.filter { $0 == .process || fault.code != nil }.map { Case(fault: fault, isolation: $0) }
  }

  @Test("24 25 26 27 28 29 74: a constructor, or the launch function, that does this harms nobody else", arguments: cases)
  func constructor(_ tested: Case) async throws {
    let (fault, isolation) = (tested.fault, tested.isolation)
    try await HostProcess.prepare(isolation: isolation) { host in
      let places = ["-DFAULT_CONSTRUCTOR=", "-DFAULT_IN_LAUNCH="]
      for (index, place) in places.enumerated() {
        try await host.add("fault\(index).so", "faulty_launch", [place + fault.does, "-DIDENTIFIER=\"test.fault\(index)\""])
      }
      try await host.addTwin()
      try host.configure("launch_budget = \"2s\"\n")
      try await host.start()
      for index in places.indices {
        let plugin = try await host.plugin("fault\(index).so")
        // On a slow machine what it prints takes longer than its budget.
        if fault.does == "prints", plugin["reason"]?["code"]?.string == "launch_timeout" { continue }
        guard let code = fault.code else {
          #expect(plugin["standing"]?.string == "registered", "\(plugin)")
          #expect(try await host.run("x", identifier: "test.fault\(index)")["outcome"]?.string == "succeeded")
          continue
        }
        #expect(plugin["standing"]?.string == "refused", "\(plugin)")
        let message = plugin["reason"]?["message"]?.string ?? ""
        #expect(plugin["reason"]?["code"]?.string == code, "\(message)")
        #expect(fault.words.contains { message.contains($0) }, "\(message)")
        #expect(message.contains("fault\(index).so") || message.split(separator: ". ").count >= 2, "\(message)")
      }
      try await expectTwinRuns(host)
      // Two of them, each with a burst of 500 lines of 8 KiB and 100 lines a second during a launch of 2 s at most.
      #expect(host.current.lines.reduce(0) { $0 + $1.utf8.count } < 12 << 20, "the host's log is not theirs to fill")
      #expect(try await host.terminate().status == 0)
      // Nothing that it started is left.
      for process in Processes.mapping(host.directory) { try await Processes.end(of: process) }
    }
  }

  @Test("24: a plugin whose identifier is known beforehand, in thread isolation, never reaches the host when its constructor crashes")
  func knownBeforehand() async throws {
    try await HostProcess.prepare { host in
      try await host.add("fault.so", "faulty_launch", ["-DFAULT_CONSTRUCTOR=crashes", "-DIDENTIFIER=\"test.known\""])
      try await host.addTwin()
      try host.configure("[plugin.\"test.known\"]\nfile = \"fault.so\"\n", threads: ["test.known"])
      try await host.start()
      #expect(try await host.plugin("fault.so")["reason"]?["code"]?.string == "launch_failed")
      try await expectTwinRuns(host)
    }
  }

  @Test("24: a permitted plugin that is known beforehand and crashes fails the launch with exit 75")
  func permittedCrash() async throws {
    try await HostProcess.prepare { host in
      try await host.add("fault.so", "faulty_launch", ["-DFAULT_CONSTRUCTOR=crashes"])
      try await host.addTwin()
      try host.configure(
        "permitted_identifiers = [\"test.twin\", \"test.faulty\"]\n[plugin.\"test.faulty\"]\nfile = \"fault.so\"\n")
      let result = try await host.failure()
      #expect(result.status == 75)
      #expect(result.errors.contains("fault.so") && result.errors.contains("SIGSEGV"), "\(result.errors)")
    }
  }

  @Test("24 25 26: a hundred broken plugins in one directory leave the good one to its work, inside the launch budget of each")
  func many() async throws {
    try await HostProcess.prepare { host in
      for index in 0..<25 {
        for (name, does) in [("crash", "crashes"), ("abort", "aborts"), ("exit", "exits"), ("leave", "underscore_exits")] {
          let bytes = try await Fixtures.shared.bytes(of: "faulty_launch", ["-DFAULT_CONSTRUCTOR=" + does])
          // Each has another content: nothing is known of it from another.
          try host.directory.file("plugins/\(name)\(index).so", bytes + Data("\(index)".utf8))
        }
      }
      try await host.addTwin()
      try host.configure("")
      try host.spawn()
      try await host.current.line(with: "launched:", within: .seconds(120))
      let status = try await host.json("status")
      #expect(status["plugins_refused"]?.integer == 100 && status["plugins_registered"]?.integer == 1, "\(status)")
      try await expectTwinRuns(host)
    }
  }
}
