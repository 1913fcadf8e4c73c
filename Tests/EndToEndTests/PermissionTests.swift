import TestSupport
import Testing

/// `permitted_identifiers`: who may register, and who must.
@Suite("Permitted identifiers", .timeLimit(.minutes(20)))
struct PermissionTests {
  @Test("an identifier permitted in full that no file offers fails the launch with exit 78 and says so")
  func missing() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("permitted_identifiers = [\"test.twin\", \"test.absent\"]\n")
      let result = try await host.failure()
      #expect(result.status == 78)
      #expect(result.errors.contains("taskhost: "))
      #expect(result.errors.contains("test.absent"))
      #expect(result.errors.contains("--allow-missing"))
      #expect(!result.errors.contains("permitted identifier test.twin"))
    }
  }

  @Test("with --allow-missing the host runs, and requests for the missing identifier wait and say why")
  func allowMissing() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try host.configure("permitted_identifiers = [\"test.twin\", \"test.absent\"]\n")
      try await host.start(["--allow-missing"])
      try await expectTwinRuns(host)
      let submission = try await host.json("submit", "test.absent")
      let id = try #require(submission["id"]?.string)
      #expect(submission["notes"]?.array.first?.string?.contains("parked") == true)
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "pending")
      let gates = try await host.json("tasks", "why", id)["gates"]?.array ?? []
      #expect(gates.contains { $0.string?.contains("no plugin has registered test.absent") == true }, "\(gates)")
      // Once its plugin is there, what was parked runs.
      try await host.terminate()
      try await host.add("late.so", "faulty_launch", ["-DIDENTIFIER=\"test.absent\""])
      try await host.start()
      try await host.request(id, is: "succeeded")
    }
  }

  @Test("31: a permitted plugin that is known beforehand and times out fails the launch with exit 75")
  func timeout() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try await host.add("slow.so", "faulty_launch", ["-DFAULT_HANGS"])
      try host.configure(
        """
        permitted_identifiers = ["test.twin", "test.faulty"]
        launch_budget = "300ms"
        [plugin."test.faulty"]
        file = "slow.so"

        """)
      let result = try await host.failure()
      #expect(result.status == 75)
      #expect(result.errors.contains("slow.so"))
      #expect(result.errors.contains("300 ms"))
    }
  }

  @Test("35: a wildcard permits what begins so, and nothing has to be there")
  func wildcard() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try await host.add("other.so", "faulty_launch", ["-DIDENTIFIER=\"foreign.plugin\""])
      try host.configure("permitted_identifiers = [\"test.*\", \"org.nobody.*\"]\n")
      try await host.start()
      try await expectRefusal(BrokenFileTests.Case(file: "other.so", code: "not_permitted", seen: ["foreign.plugin"]), of: host)
      try await expectTwinRuns(host)
    }
  }

  @Test("35: a file that is tied to one identifier may not register another")
  func tied() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try await host.add("tied.so", "faulty_launch")
      try host.configure("[plugin.\"test.expected\"]\nfile = \"tied.so\"\n")
      try await host.start()
      try await expectRefusal(
        BrokenFileTests.Case(file: "tied.so", code: "not_permitted", seen: ["test.expected", "test.faulty"]), of: host)
      try await expectTwinRuns(host)
    }
  }

  @Test("35: an identifier that is tied to one file may not be registered by another, whose name comes first")
  func tiedIdentifier() async throws {
    try await HostProcess.prepare { host in
      try await host.addTwin()
      try await host.add("a.so", "faulty_launch")
      try await host.add("b.so", "faulty_launch")
      try host.configure("[plugin.\"test.faulty\"]\nfile = \"b.so\"\n")
      try await host.start()
      try await expectRefusal(BrokenFileTests.Case(file: "a.so", code: "not_permitted", seen: ["test.faulty", "b.so"]), of: host)
      #expect(try await host.plugin("b.so")["standing"]?.string == "registered")
      try await expectTwinRuns(host)
    }
  }

  @Test("a file with two handlers is tied to both identifiers by their tables")
  func tiedTwice() async throws {
    try await HostProcess.prepare { host in
      try await host.add("requests.so", "requests")
      try host.configure(
        "[plugin.\"test.requests.first\"]\nfile = \"requests.so\"\n[plugin.\"test.requests.second\"]\nfile = \"requests.so\"\n")
      try await host.start()
      #expect(try await host.plugin("requests.so")["standing"]?.string == "registered")
    }
  }

  @Test("a plugin directory that is missing fails the launch with exit 78")
  func noDirectory() async throws {
    try await HostProcess.prepare { host in
      try host.directory.file("taskhost.toml", "plugin_directories = [\"nowhere\"]\n")
      let result = try await host.failure()
      #expect(result.status == 78)
      #expect(result.errors.contains("/nowhere: cannot be listed: No such file or directory"))
    }
  }
}
