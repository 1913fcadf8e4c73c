import TestSupport
import Foundation
import Glibc
import Testing

/// Faults 51 to 54, 72, 73, 75, 77: runs, expiration handlers and shutdown hooks that do not end when they should.
@Suite("Faults 51-54, 72, 73, 75: runs that hang", .timeLimit(.minutes(20)))
struct FaultRunHangTests {
  private static let short = "[plugin.\"test.fault\"]\nbudget = \"300ms\"\ngrace = \"300ms\"\n"

  @Test(
    "51 52: a run that heeds nothing is stopped by force when its grace is over: a busy loop, a system call, a mutex, the system's sleep",
    arguments: ["busy", "read", "mutex", "own-sleep"], Isolation.allCases)
  func forced(_ steps: String, _ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_hang", isolation, Self.short) { host in
      let record = try await expectForced(host, steps)
      #expect((500...20_000).contains(record["duration_ms"]?.integer ?? 0), "budget and grace: \(record)")
    }
  }

  @Test("51 52: the record and the log name the thread that is stuck, and where", arguments: ["busy", "read"], Isolation.allCases)
  func stuck(_ steps: String, _ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_hang", isolation, Self.short) { host in
      let record = try await expectForced(host, steps)
      #expect(record["trouble"]?.string?.contains("fault") == true, "the thread is named after its identifier: \(record)")
      let line = host.current.lines.first { $0.contains("stuck") || $0.contains("force") }
      #expect(line != nil, "\(host.current.lines.suffix(10))")
    }
  }

  @Test("51: other runs of a worker that is killed are lost: they run again and spend no attempt")
  func neighbours() async throws {
    try await HostProcess.withFault("faulty_hang", .process, "[plugin.\"test.fault\"]\ngrace = \"300ms\"\n") { host in
      let gate = try host.directory.fifo("gate")
      let neighbour = try await host.submit("gate \(gate.path)", identifier: "test.fault")
      try await gate.arrival()
      let worker = try #require(try await host.worker(of: "fault.so"))
      let started = try host.directory.fifo("started")
      let busy = try await host.submit("gate \(started.path);busy", identifier: "test.fault")
      try await started.pass()
      _ = try await host.json("tasks", "cancel", busy)
      try await host.request(busy, is: "cancelled")
      try await Processes.end(of: worker)
      try await gate.pass()
      let request = try await host.request(neighbour, is: "succeeded")
      #expect(request["attempts_spent"]?.integer == 0)
      #expect(try await host.runs(of: neighbour).compactMap { $0["outcome"]?.string } == ["succeeded", "lost"])
      let record = try await host.records(of: busy).first
      #expect(record?["outcome"]?.string == "cancelled" && record?["stop_stage"]?.string == "killed", "\(String(describing: record))")
      #expect(try await host.plugin("fault.so")["strikes"]?.integer ?? 0 == 0, "who is cancelled by force is not struck")
    }
  }

  @Test("51: five runs in a row that had to be stopped by force quarantine their plugin")
  func quarantine() async throws {
    try await HostProcess.withFault("faulty_hang", .process, "[plugin.\"test.fault\"]\nbudget = \"100ms\"\ngrace = \"50ms\"\n") { host in
      let id = try await host.submit("busy", identifier: "test.fault")
      try await host.request(id, is: "failed", within: .seconds(60))
      let plugin = try await host.plugin("fault.so")
      #expect(plugin["standing"]?.string == "quarantined" && plugin["strikes"]?.integer == 5, "\(plugin)")
      try await expectTwinRuns(host)
    }
  }

  @Test("53: an expiration handler that never returns does not hold back its run's outcome", arguments: Isolation.allCases)
  func handlerHangs(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_hang", isolation, "[plugin.\"test.fault\"]\nbudget = \"300ms\"\ngrace = \"20s\"\n") { host in
      let run = try await host.fault("handler-hangs")["run"]
      #expect(run?["outcome"]?.string == "succeeded" && run?["expired"]?.bool == true, "\(String(describing: run))")
      #expect(run?["output"]?["called"]?.integer == 1)
      #expect((run?["duration_ms"]?.integer ?? 20_000) < 15_000)
      // Deadlines are kept for those that come after it.
      let next = try await host.fault("sleep")["run"]
      #expect(next?["output"]?["sleep"]?.integer == -6, "\(String(describing: next))")
      try await expectTwinRuns(host)
    }
  }

  @Test("53: an expiration handler that crashes", arguments: Isolation.allCases)
  func handlerCrashes(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_hang", isolation, "[plugin.\"test.fault\"]\nbudget = \"300ms\"\ngrace = \"20s\"\n") { host in
      try await expectCrash(host, "handler-crashes", named: ["SIGSEGV"])
    }
  }

  @Test("53: an expiration handler that goes on after its run has ended is told ESTALE", arguments: Isolation.allCases)
  func handlerLate(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_hang", isolation, "[plugin.\"test.fault\"]\nbudget = \"300ms\"\ngrace = \"20s\"\n") { host in
      let (gate, answer) = (try host.directory.fifo("gate"), try host.directory.fifo("answer"))
      let run = try await host.fault("handler-late \(gate.path) \(answer.path)")
      #expect(run["outcome"]?.string == "succeeded", "\(run)")
      try await gate.pass()
      let told = try JSON(parsing: try await answer.read())
      for call in ["log", "output", "state"] { #expect(told[call]?.integer == -5, "\(told)") }
      #expect(told["reason"]?.integer == 1 && told["is_expired"]?.integer == 1)
      try await expectTwinRuns(host)
    }
  }

  @Test("53: an expiration handler that sets itself again is called once", arguments: Isolation.allCases)
  func handlerSets(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_hang", isolation, "[plugin.\"test.fault\"]\nbudget = \"300ms\"\ngrace = \"20s\"\n") { host in
      let output = try await host.fault("handler-sets")["run"]?["output"]
      #expect(output?["set"]?.integer == 0)
      #expect(output?["again"]?.integer == -6, "EEXPIRED: \(String(describing: output))")
      #expect(output?["cleared"]?.integer == -6)
      #expect(output?["calls"]?.integer == 1)
    }
  }

  @Test(
    "54: a handler that is set at the moment of expiry is either called or told EEXPIRED, never neither, never both",
    arguments: Isolation.allCases)
  func setAtExpiry(_ isolation: Isolation) async throws {
    let configuration = "[plugin.\"test.fault\"]\nbudget = \"60ms\"\ngrace = \"20s\"\n"
    try await HostProcess.withFault("faulty_hang", isolation, configuration, arguments: ["-DMAX_RUNS=4"]) { host in
      var ids: [String] = []
      for _ in 0..<40 { ids.append(try await host.submit("set-at-expiry", identifier: "test.fault")) }
      for id in ids {
        try await host.request(id, is: "succeeded")
        let output = try await host.lastOutput(of: id)
        let (set, calls) = (output?["set"]?.integer, output?["calls"]?.integer)
        #expect((set == 0 && calls == 1) || (set == -6 && calls == 0), "\(String(describing: output))")
        if set == 0 { #expect(output?["cleared"]?.integer == -6, "it was called and has returned: \(String(describing: output))") }
      }
    }
  }

  @Test("72: a run that blocks every thread of Swift's cooperative pool blocks its own alone", arguments: Isolation.allCases)
  func pool(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("fault.so", "faulty_swift")
      try await host.add("swift-twin.so", "faulty_swift", ["-DTWIN"])
      try await host.addTwin()
      try host.configure("[plugin.\"test.swift\"]\nbudget = \"500ms\"\ngrace = \"2s\"\n")
      try await host.start()
      #expect(try await host.run("task", identifier: "test.swift")["outcome"]?.string == "succeeded")
      let run = try await host.run("pool", identifier: "test.swift")["run"]
      #expect(run?["outcome"]?.string == "succeeded" && run?["stop_reason"]?.string == "budget", "\(String(describing: run))")
      // Another plugin's pool, and the host's own, are not touched.
      #expect(try await host.run("task", identifier: "test.swift-twin")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test(
    "72: a pool with more to do than it has threads gets it done: libdispatch may look after its threads", arguments: Isolation.allCases)
  func backlog(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_swift", isolation) { host in
      for _ in 0..<5 {
        let answer = try await host.run("backlog", identifier: "test.swift")
        #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      }
    }
  }

  @Test("73: the whole table may be called from an expiration handler", arguments: Isolation.allCases)
  func handlerCalls(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_hang", isolation, "[plugin.\"test.fault\"]\nbudget = \"300ms\"\ngrace = \"20s\"\n") { host in
      let answer = try await host.fault("handler-calls")
      let output = try #require(answer["run"]?["output"])
      for call in [
        "payload", "progress", "log", "message", "retry_after", "state_set", "state_get", "checkpoint_set", "checkpoint_get", "submit",
      ] {
        #expect(output[call]?.integer == 0, "\(call): \(output)")
      }
      #expect(output["sleep"]?.integer == -6 && output["cancel"]?.integer == -8, "\(output)")
      #expect(output["identifier"]?.string == "test.fault" && output["is_expired"]?.integer == 1)
      #expect((output["remaining"]?.integer ?? 1) <= 0 && (output["grace"]?.integer ?? 0) > 0)
      try await expectTwinRuns(host)
    }
  }

  @Test(
    "75: a shutdown hook that crashes or hangs costs nobody anything", arguments: ["-DSHUTDOWN_CRASHES", "-DSHUTDOWN_HANGS"],
    Isolation.allCases)
  func shutdownHook(_ hook: String, _ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("fault.so", "faulty_crash", [hook])
      try await host.add("script.so", "script", ["-DSHUTDOWN"])
      try host.configure("")
      try await host.start()
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      let kept = try await host.submit("result 0", ["--after", "1h"])
      #expect(try await host.run("result 0")["outcome"]?.string == "succeeded")
      let end = try await host.terminate()
      if isolation == .process || hook == "-DSHUTDOWN_HANGS" {
        #expect(end.status == 0)
        #expect(host.directory.text("state/data/test.script/shutdown") == "called\n", "the others' hooks are called all the same")
      }
      try await host.start()
      #expect(try await host.json("tasks", "show", kept)["state"]?.string == "pending")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
    }
  }
}
