import TestSupport
import Foundation
import Testing

/// `org.taskhost.requests/1` under the real host: a plugin's own pending requests.
@Suite("Extension: own pending requests", .timeLimit(.minutes(20)))
struct RequestsExtensionTests {
  private static let first = "test.requests.first"
  private static let second = "test.requests.second"

  /// Gives `body` a host with the plugin `requests.c`, which has two identifiers.
  private func withPlugin(
    _ isolation: Isolation, _ configuration: String = "", atLaunch: String? = nil, _ body: (HostProcess) async throws -> Void
  ) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await replacePlugin(of: host, atLaunch: atLaunch)
      let own =
        switch isolation {
        case .thread: "\n[plugin.\"\(Self.first)\"]\nisolation = \"thread\"\n"
        case .process: "\n[plugin.\"\(Self.first)\".entitlements]\nwrite = [\"\(host.directory("shared"))\"]\n"
        }
      try host.configure(configuration + own)
      try await host.start()
      try await body(host)
    }
  }

  /// Puts another build of the plugin in its place.
  private func replacePlugin(of host: HostProcess, atLaunch: String?) async throws {
    try await host.add("requests.so", "requests", atLaunch.map { ["-DAT_LAUNCH=\($0)"] } ?? [])
  }

  /// The output of a run of the first identifier.
  private func output(_ host: HostProcess, _ steps: String) async throws -> JSON {
    let answer = try await host.run(steps, identifier: Self.first)
    #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
    return try #require(answer["run"]?["output"], "\(answer)")
  }

  private func list(_ host: HostProcess) async throws -> [String] {
    let output = try await output(host, "list")
    #expect(output["status"]?.integer == 0)
    #expect(output["failures"]?.integer == 0)
    return output["list"]?.array.compactMap(\.string) ?? []
  }

  // MARK: Listing

  @Test("list shows what is pending of all identifiers of the plugin, the oldest first, and no run", arguments: Isolation.allCases)
  func listing(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      #expect(try await list(host) == [])
      _ = try await output(host, "submit .second 7200 a;submit .first 3600 b;submit .second 60 c")
      let gate = try host.directory.fifo("gate")
      let running = try await host.submit("gate \(gate.path)", identifier: Self.second)
      try await gate.arrival()
      #expect(try await list(host) == [".second a 2 1", ".first b 1 1", ".second c 2 1"])
      gate.release()
      try await host.request(running, is: "succeeded")
    }
  }

  @Test("a request that is to be tried again tells its attempt and when it starts, and when it was to begin", arguments: Isolation.allCases)
  func retried(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, "[retry]\ninitial = \"1h\"\nmaximum = \"2h\"\n") { host in
      let id = try await host.submit("result-until 2 3", identifier: Self.second)
      try await host.request(id) { $0["last_outcome"]?.string == "retried" }
      let times = try await output(host, "times")
      #expect(times["attempt"]?.integer == 2)
      #expect(times["earliest_s"]?.integer == -1, "it was submitted for at once")
      #expect((2800...4400).contains(times["next_s"]?.integer ?? 0), "\(times)")
    }
  }

  @Test("a request for later tells when", arguments: Isolation.allCases)
  func later(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let times = try await output(host, "submit .second 3600 later;times")
      #expect(times["attempt"]?.integer == 1)
      #expect((3590...3600).contains(times["earliest_s"]?.integer ?? 0), "\(times)")
      #expect((3590...3600).contains(times["next_s"]?.integer ?? 0), "\(times)")
    }
  }

  @Test("payloads of many megabytes are listed in order, a page at a time", arguments: Isolation.allCases)
  func large(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let survey = try await output(host, "submit-full .second 40;submit .first 3600 last;survey")
      #expect(survey["submit"]?.integer == 0)
      #expect(survey["status"]?.integer == 0)
      #expect(survey["count"]?.integer == 41)
      #expect(survey["bytes"]?.integer == 2_621_444, "40 times 64 KiB, and 4")
      #expect(survey["ordered"]?.integer == 1)
      #expect(survey["failures"]?.integer == 0)
    }
  }

  @Test("a visitor that calls the host back does not hang", arguments: Isolation.allCases)
  func callingBack(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let output = try await output(host, "submit .second 3600 a;submit .first 3600 b;list-calling")
      #expect(output["status"]?.integer == 0)
      #expect(output["failures"]?.integer == 0)
      #expect(output["count"]?.integer == 2)
      // Two of the first listing from within, three of the second: what was submitted meanwhile is there.
      #expect(output["nested"]?.integer == 5)
    }
  }

  @Test("the request that a schedule stands for is the operator's: neither shown nor cancelled", arguments: Isolation.allCases)
  func schedule(_ isolation: Isolation) async throws {
    try await withPlugin(isolation, "[plugin.\"\(Self.second)\"]\nschedule = \"every 24h\"\n") { host in
      let scheduled = try await host.json("tasks", "list", "--identifier", Self.second)["requests"]?.array.first?["id"]?.string ?? ""
      try await host.request(scheduled) { $0["last_outcome"] != nil && $0["state"]?.string == "pending" }
      let output = try await output(host, "submit .second 3600 mine;list;cancel-all")
      #expect(output["list"]?.array.compactMap(\.string) == [".second mine 2 1"])
      #expect(output["cancelled"]?.integer == 1)
      #expect(try await self.output(host, "cancel-one \(scheduled)")["cancel"]?.integer == -4)
      #expect(try await host.json("tasks", "show", scheduled)["state"]?.string == "pending")
    }
  }

  // MARK: Cancelling

  @Test("cancel_identifier cancels what is pending of one identifier and leaves its run alone", arguments: Isolation.allCases)
  func cancelIdentifier(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let gate = try host.directory.fifo("gate")
      let running = try await host.submit("gate \(gate.path)", identifier: Self.second)
      try await gate.arrival()
      let cancelled = try await host.submit("", ["--after", "1h"], identifier: Self.second)
      let kept = try await host.submit("", ["--after", "1h"], identifier: Self.first)
      let output = try await output(host, "cancel .second")
      #expect(output["cancel"]?.integer == 0)
      #expect(output["cancelled"]?.integer == 1)
      #expect(try await host.json("tasks", "show", cancelled)["state"]?.string == "cancelled", "durable when the call returns")
      #expect(try await host.json("tasks", "show", kept)["state"]?.string == "pending")
      #expect(try await host.json("tasks", "show", running)["state"]?.string == "running")
      gate.release()
      try await host.request(running, is: "succeeded")
      #expect(try await self.output(host, "cancel .second")["cancelled"]?.integer == 0, "nothing is left to cancel")
    }
  }

  @Test("cancel_all cancels what is pending of all identifiers, but not the run that asks for it", arguments: Isolation.allCases)
  func cancelAll(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let output = try await output(host, "submit .second 3600 a;submit .first 3600 b;submit .second 3600 c;cancel-all;list")
      #expect(output["cancelled"]?.integer == 3)
      #expect(output["list"]?.array == [])
      let states = try await host.json("tasks", "list")["requests"]?.array.compactMap { $0["state"]?.string } ?? []
      #expect(states.sorted() == ["cancelled", "cancelled", "cancelled", "succeeded"])
    }
  }

  @Test("requests of other plugins are neither shown nor cancelled", arguments: Isolation.allCases)
  func others(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script")
      try await host.add("requests.so", "requests")
      let isolated = isolation == .thread ? "\n[plugin.\"\(Self.first)\"]\nisolation = \"thread\"\n" : ""
      try host.configure(isolated)
      try await host.start()
      let other = try await host.submit("", ["--after", "1h"])
      #expect(try await list(host) == [])
      let refused = try await output(host, "cancel test.script")
      #expect(refused["cancel"]?.integer == -4)
      #expect(refused["cancelled"]?.integer == 77, "nothing was written")
      #expect(refused["has_sentence"]?.integer == 1)
      #expect(try await output(host, "cancel test.unknown")["cancel"]?.integer == -4)
      #expect(try await output(host, "cancel-all")["cancelled"]?.integer == 0)
      #expect(try await output(host, "cancel-one \(other)")["cancel"]?.integer == -8)
      #expect(try await host.json("tasks", "show", other)["state"]?.string == "pending")
    }
  }

  @Test("a run may cancel a request of another identifier of its plugin by its id", arguments: Isolation.allCases)
  func cancelOne(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let sibling = try await host.submit("", ["--after", "1h"], identifier: Self.second)
      #expect(try await output(host, "cancel-one \(sibling)")["cancel"]?.integer == 0)
      #expect(try await host.json("tasks", "show", sibling)["state"]?.string == "cancelled")
    }
  }

  @Test("a handle that is over, and malformed arguments, are refused", arguments: Isolation.allCases)
  func refused(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      _ = try await host.run("keep-handle", identifier: Self.first)
      let stale = try await output(host, "submit .second 3600 kept;stale")
      for call in ["stale_list", "stale_cancel", "stale_cancel_all"] { #expect(stale[call]?.integer == -5, "\(call): \(stale)") }
      for call in ["no_launch_list", "no_launch_cancel"] { #expect(stale[call]?.integer == -2, "\(call): \(stale)") }
      #expect(stale["count"]?.integer == 77)
      let misuse = try await output(host, "misuse")
      for call in ["no_visitor", "no_identifier", "bad_identifier"] { #expect(misuse[call]?.integer == -1, "\(call): \(misuse)") }
      for call in ["no_count", "no_count_all"] { #expect(misuse[call]?.integer == 0, "\(call): \(misuse)") }
      #expect(misuse["count"]?.integer == 77)
      let tables = try await output(host, "tables")
      for fact in ["null", "other", "same", "size"] { #expect(tables[fact]?.integer == 1, "\(fact): \(tables)") }
    }
  }

  // MARK: While launching

  @Test("launch_list shows what is pending from before, once the plugin has registered", arguments: Isolation.allCases)
  func launchList(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      _ = try await output(host, "submit .second 7200 a;submit .first 3600 b")
      await host.kill()
      try await replacePlugin(of: host, atLaunch: "held(IDENTIFIER \".first\", \"new\"); told(\"at launch\")")
      try await host.start()
      try await host.current.line(with: "at launch: status 0, 2 pending, 0 failures", ".second a 2 1", ".first b 1 1")
      #expect(try await list(host) == [".second a 2 1", ".first b 1 1", ".first new 1 1"])
      // What it saw is no verdict: it is told anew at the next launch.
      try await host.terminate()
      try await host.start()
      try await host.current.line(with: "at launch: status 0, 3 pending")
    }
  }

  @Test("what a launch cancels is carried out once, in the order of its calls, over kill -9 and restart", arguments: Isolation.allCases)
  func launchCancel(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      let gate = try host.directory.fifo("gate")
      let running = try await host.submit("gate \(gate.path)", identifier: Self.first)
      try await gate.arrival()
      _ = try await output(host, "submit .second 7200 a;submit .first 3600 b;submit .second 3600 c")
      await host.kill()
      gate.release()
      // The first held request is cancelled with the old ones, the second is not.
      let calls = """
        held(IDENTIFIER ".second", "gone"); status = requests->launch_cancel(launch, IDENTIFIER ".second"); \
        held(IDENTIFIER ".second", "new")
        """
      try await replacePlugin(of: host, atLaunch: calls)
      try await host.start()
      try await gate.pass()
      try await host.request(running, is: "succeeded")
      #expect(try await list(host) == [".first b 1 1", ".second new 2 1"])
      // Not carried out again by a worker that is started anew, but by a host that is.
      _ = try await output(host, "submit .second 3600 d")
      #expect(try await list(host) == [".first b 1 1", ".second new 2 1", ".second d 2 1"])
      await host.kill()
      try await host.start()
      #expect(try await list(host) == [".first b 1 1", ".second new 2 1"])
    }
  }

  @Test("a launch that cancels all leaves nothing pending", arguments: Isolation.allCases)
  func launchCancelAll(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      _ = try await output(host, "submit .second 7200 a;submit .first 3600 b")
      try await host.terminate()
      try await replacePlugin(of: host, atLaunch: "status = requests->launch_cancel(launch, NULL)")
      try await host.start()
      #expect(try await list(host) == [])
    }
  }

  @Test("a launch that is refused cancels nothing", arguments: Isolation.allCases)
  func refusedLaunch(_ isolation: Isolation) async throws {
    try await withPlugin(isolation) { host in
      _ = try await output(host, "submit .second 7200 a")
      try await host.terminate()
      try await replacePlugin(
        of: host, atLaunch: "requests->launch_cancel(launch, NULL); status = requests->launch_cancel(launch, \"test.other\")")
      try await host.start()
      #expect(try await host.plugin("requests.so")["standing"]?.string == "refused")
      try await host.terminate()
      try await replacePlugin(of: host, atLaunch: nil)
      try await host.start()
      #expect(try await list(host) == [".second a 2 1"])
    }
  }

  @Test("a plugin whose identifier is another's sees none of its requests while it launches")
  func foreignLaunchList() async throws {
    try await withPlugin(.process) { host in
      _ = try await output(host, "submit .second 7200 secret")
      try await host.terminate()
      try await host.add("z.so", "requests", ["-DAT_LAUNCH=told(\"the intruder\"); status = TASKHOST_OK"])
      try await host.start()
      #expect(try await host.plugin("z.so")["reason"]?["code"]?.string == "identifier_taken")
      let told = host.current.lines.filter { $0.contains("the intruder") }
      #expect(!told.contains { $0.contains("secret") }, "\(told)")
    }
  }
}
