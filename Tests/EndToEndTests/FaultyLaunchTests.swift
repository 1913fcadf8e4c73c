import TestSupport
import Foundation
import Testing

/// Faults 30 to 40: plugins whose launch goes wrong.
@Suite("Faulty launches", .timeLimit(.minutes(20)))
struct FaultyLaunchTests {
  @Test("30-38 40: every plugin whose launch goes wrong is refused with a reason, and the twin beside it runs")
  func faultyLaunches() async throws {
    try await HostProcess.prepare { host in
      typealias Case = BrokenFileTests.Case
      let long = String(repeating: "a", count: 20)
      let faults: [(name: String, arguments: [String], code: String, seen: [String])] = [
        ("30-error", ["-DFAULT_RETURNS_ERROR"], "launch_failed", ["returned -11"]),
        ("31-hangs", ["-DFAULT_HANGS"], "launch_timeout", ["launch budget of 400 ms"]),
        ("32-nothing", ["-DFAULT_REGISTERS_NOTHING"], "registered_nothing", ["registered no handler"]),
        ("33-twice", ["-DFAULT_REGISTERS_TWICE", "-DIDENTIFIER=\"test.twice\""], "registered_twice", ["second"]),
        ("34-taken", ["-DIDENTIFIER=\"test.first\""], "identifier_taken", ["test.first", "0-first.so"]),
        ("35-foreign", ["-DIDENTIFIER=\"other.plugin\""], "not_permitted", ["other.plugin", "permitted_identifiers"]),
        ("36-empty", ["-DIDENTIFIER=\"\""], "invalid_registration", ["identifier"]),
        ("36-null", ["-DFAULT_NULL_IDENTIFIER"], "invalid_registration", ["identifier"]),
        ("36-long", ["-DFAULT_LONG_IDENTIFIER"], "invalid_registration", ["identifier", long]),
        ("36-dots", ["-DIDENTIFIER=\"..\""], "invalid_registration", ["identifier"]),
        ("36-path", ["-DIDENTIFIER=\"../../etc\""], "invalid_registration", ["identifier"]),
        ("36-space", ["-DIDENTIFIER=\"test one\""], "invalid_registration", ["identifier"]),
        ("36-newline", ["-DIDENTIFIER=\"test\\none\""], "invalid_registration", ["identifier"]),
        ("36-utf8", ["-DIDENTIFIER=\"test.\\377\\376\""], "invalid_registration", ["identifier"]),
        ("37-handler", ["-DFAULT_NULL_HANDLER"], "invalid_registration", ["handler"]),
        ("37-size-0", ["-DFAULT_STRUCT_SIZE=0"], "invalid_registration", ["struct_size"]),
        ("37-size-8", ["-DFAULT_STRUCT_SIZE=8"], "invalid_registration", ["struct_size"]),
        ("37-size-max", ["-DFAULT_STRUCT_SIZE=4294967295"], "invalid_registration", ["struct_size"]),
        ("37-larger", ["-DFAULT_LARGER_STRUCT=1"], "invalid_registration", ["registration"]),
        ("37-reserved", ["-DFAULT_RESERVED"], "invalid_registration", ["reserved"]),
        ("38-kind-0", ["-DFAULT_KIND=0"], "invalid_registration", ["kind 0"]),
        ("38-kind-77", ["-DFAULT_KIND=77"], "invalid_registration", ["kind 77"]),
        ("40-signature", ["-DFAULT_SIGNATURE=\"i32(((\""], "invalid_registration", ["signature"]),
      ]
      for fault in faults { try await host.add("f\(fault.name).so", "faulty_launch", fault.arguments) }
      // A later header's registration that does not use its new field is as good as today's.
      try await host.add("f37-zero.so", "faulty_launch", ["-DFAULT_LARGER_STRUCT=0", "-DIDENTIFIER=\"test.larger\""])
      try await host.add("0-first.so", "faulty_launch", ["-DIDENTIFIER=\"test.first\""])
      try await host.addTwin()
      try host.configure("permitted_identifiers = [\"test*\"]\nlaunch_budget = \"400ms\"\n")
      try await host.start()
      for fault in faults { try await expectRefusal(Case(file: "f\(fault.name).so", code: fault.code, seen: fault.seen), of: host) }
      #expect(try await host.plugin("f37-zero.so")["identifier"]?.string == "test.larger")
      #expect(try await host.plugin("0-first.so")["standing"]?.string == "registered")
      try await expectTwinRuns(host)
      let end = try await host.terminate()
      #expect(end.status == 0, "a launch that hangs does not keep the host from ending")
    }
  }

  @Test("39: registration is closed after launch, from a run and from another thread, for ever")
  func lateRegistration() async throws {
    try await HostProcess.run { host in
      for _ in 1...2 {
        let run = try await host.run("late")
        #expect(run["run"]?["output"]?["late"]?.integer == -2)
        #expect(run["run"]?["output"]?["late_thread"]?.integer == -2)
      }
      let plugins = try await host.json("plugins", "list")["plugins"]?.array ?? []
      #expect(plugins.compactMap { $0["identifier"]?.string } == ["test.script"])
    }
  }

  @Test("a plugin gets its settings while it launches")
  func settings() async throws {
    let settings = "[plugin.\"test.script\".settings]\ngreeting = \"hello\"\ncount = 3\n"
    try await HostProcess.run(settings, script: ["-DLAUNCH_LOG"]) { host in
      let line = try await host.current.line(with: "greeting", "hello", "count")
      #expect(try JSON(parsing: JSON(parsing: line)["message"]?.string ?? "")["count"]?.integer == 3)
    }
  }

  @Test("plugins list shows what was registered, with the operator's limits")
  func contract() async throws {
    let limits = "[plugin.\"test.script\"]\nbudget = \"90s\"\ngrace = \"7s\"\nmax_concurrent_runs = 2\n"
    try await HostProcess.run(limits) { host in
      let plugin = try await host.plugin("script.so")
      #expect(plugin["identifier"]?.string == "test.script")
      #expect(plugin["kind"]?.string == "processing")
      #expect(plugin["budget_ms"]?.integer == 90_000)
      #expect(plugin["grace_ms"]?.integer == 7000)
      #expect(plugin["max_concurrent_runs"]?.integer == 2)
      #expect(plugin["display_name"]?.string == "Script")
      #expect(plugin["version"]?.string == "1.2.3")
      #expect(plugin["reason"] == nil)
    }
  }
}
