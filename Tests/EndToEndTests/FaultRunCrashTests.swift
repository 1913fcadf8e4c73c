import TestSupport
import Foundation
import Glibc
import Testing

/// Faults 41 to 50: runs that end their process. In a worker, that costs the worker; in thread isolation the host, which comes back,
/// knows whose fault it was and has lost nothing.
@Suite("Faults 41-50: runs that crash", .timeLimit(.minutes(20)))
struct FaultRunCrashTests {
  struct Crash: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let steps: String
    let words: [String]

    init(_ name: String, _ steps: String, _ words: String...) {
      (testDescription, self.steps, self.words) = (name, steps, words)
    }
  }

  static let cases = [
    Crash("41 segmentation fault", "segfault", "SIGSEGV"),
    Crash("41 segmentation fault on a thread of the plugin's own", "thread-segfault", "SIGSEGV"),
    Crash("41 illegal instruction", "illegal", "SIGILL", "SIGTRAP"),
    Crash("41 division by zero", "divide", "SIGFPE"),
    Crash("42 abort", "abort", "SIGABRT"),
    Crash("45 longjmp out of the handler", "longjmp", "SIGABRT", "SIGSEGV", "SIGBUS", "SIGILL"),
    Crash("46 stack overflow", "stack-overflow", "SIGSEGV"),
    Crash("47 heap corruption", "heap-corruption", "SIGABRT", "SIGSEGV"),
    Crash("48 exit", "exit 3", "exit"),
    Crash("48 _exit", "_exit 4", "exit"),
    Crash("48 _Exit", "_Exit 5", "exit"),
    Crash("48 quick_exit", "quick_exit 6", "exit"),
  ]

  @Test(
    "41 42 45 46 47 48: the run has crashed by name, the next attempt succeeds, nothing else is harmed", arguments: cases,
    Isolation.allCases)
  func crashes(_ crash: Crash, _ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_crash", isolation) { host in
      try await expectCrash(host, crash.steps, named: crash.words)
    }
  }

  @Test("41: the record has the stack of the fault, with the plugin's own function in it", arguments: Isolation.allCases)
  func stack(_ isolation: Isolation) async throws {
    // Functions that the loader knows have names in a stack.
    try await HostProcess.withFault("faulty_crash", isolation, arguments: ["-Dstatic=", "-O0"]) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("once \(try host.unusedPath());gate \(gate.path);segfault", identifier: "test.fault")
      try await gate.pass()
      if isolation == .thread {
        _ = try await host.end()
        try await host.start()
      }
      try await host.request(id, is: "succeeded")
      let trouble = try await host.records(of: id).last?["trouble"]?.string ?? ""
      #expect(trouble.contains("SIGSEGV") && trouble.contains("segfault"), "\(trouble)")
      #expect(trouble.split(separator: "\n").count > 1, "a line a frame: \(trouble)")
      let line = try await host.cli("runs", "show", try await host.records(of: id).last?["id"]?.string ?? "")
      #expect(line.output.contains("SIGSEGV"), "people see it too: \(line.output)")
    }
  }

  @Test("42 48: exits that nothing in the process sees are crashes too", arguments: ["sigkill", "system-exit 7"])
  func unseen(_ steps: String) async throws {
    try await HostProcess.withFault("faulty_crash", .process) { host in
      try await expectCrash(host, steps, named: steps == "sigkill" ? ["SIGKILL"] : ["exit"], tellsMemory: false)
    }
  }

  @Test("43: a Swift trap", arguments: ["index", "overflow", "unwrap", "precondition"], Isolation.allCases)
  func swiftTrap(_ trap: String, _ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_swift", isolation, "[retry]\nattempts = 1\ninitial = \"100ms\"\nmaximum = \"200ms\"\n") {
      host in
      try await host.expectSingleCrash(trap, identifier: "test.swift", named: ["SIGILL", "SIGTRAP"], next: "task")
    }
  }

  @Test("44: a C++ exception that escapes", arguments: ["handler", "foreign", "noexcept", "thread"], Isolation.allCases)
  func exception(_ way: String, _ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_exception", isolation, "[retry]\nattempts = 1\ninitial = \"100ms\"\nmaximum = \"200ms\"\n") {
      host in
      let caught = try await host.run("caught", identifier: "test.exception")
      #expect(caught["run"]?["message"]?.string == "caught", "exceptions that a plugin catches are its own affair")
      try await host.expectSingleCrash(way, identifier: "test.exception", named: ["SIGABRT"], next: "caught")
    }
  }

  @Test("49: a handler that ends its thread has ended its run, and its slot is free again", arguments: Isolation.allCases)
  func threadExit(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_crash", isolation, arguments: ["-DMAX_RUNS=1"]) { host in
      let id = try await host.submit("once \(try host.unusedPath());pthread_exit", identifier: "test.fault")
      try await host.request(id, is: "succeeded")
      let record = try #require(try await host.records(of: id).last)
      #expect(["crashed", "retried"].contains(record["outcome"]?.string), "\(record)")
      #expect(record["message"]?.string?.contains("pthread_exit") == true, "\(record)")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test("50: raise(SIGSTOP) stops a worker, which is killed when the run's time is over")
  func stopsWorker() async throws {
    try await HostProcess.withFault("faulty_crash", .process, "[plugin.\"test.fault\"]\nbudget = \"300ms\"\ngrace = \"200ms\"\n") { host in
      try await expectForced(host, "sigstop")
    }
  }

  @Test("50: raise(SIGSTOP) stops the host in thread isolation; continued, it goes on and nobody has lost anything")
  func stopsHost() async throws {
    try await HostProcess.withFault("faulty_crash", .thread) { host in
      let kept = try await host.json("submit", "test.twin", "--after", "1h")["id"]?.string ?? ""
      // The host stops once the submission is answered.
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("gate \(gate.path);sigstop", identifier: "test.fault")
      try await gate.pass()
      try await host.isStopped()
      host.signal(SIGCONT)
      try await host.request(id, is: "succeeded")
      #expect(try await host.json("tasks", "show", kept)["state"]?.string == "pending")
      try await expectTwinRuns(host)
    }
  }

  // MARK: What a crash means to others, and to its plugin

  @Test("41: other runs of the same worker are lost, not crashed: they run again and spend no attempt")
  func neighbours() async throws {
    try await HostProcess.withFault("faulty_crash", .process) { host in
      let gate = try host.directory.fifo("gate")
      let neighbour = try await host.submit("gate \(gate.path)", identifier: "test.fault")
      try await gate.arrival()
      let crash = try await host.submit("once \(try host.unusedPath());segfault", identifier: "test.fault")
      try await host.request(crash, is: "succeeded")
      try await gate.pass()
      let request = try await host.request(neighbour, is: "succeeded")
      #expect(request["attempts_spent"]?.integer == 0)
      #expect(try await host.runs(of: neighbour).compactMap { $0["outcome"]?.string } == ["succeeded", "lost"])
      #expect(try await host.runs(of: crash).compactMap { $0["outcome"]?.string } == ["succeeded", "crashed"])
    }
  }

  @Test("41: runs of other plugins do not notice: theirs go on in the same worker")
  func others() async throws {
    try await HostProcess.prepare { host in
      try await host.add("fault.so", "faulty_crash")
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      let gate = try host.directory.fifo("gate")
      let other = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      let worker = try #require(try await host.worker(of: "script.so"))
      for steps in ["segfault", "exit 1"] {
        let crash = try await host.submit("once \(try host.unusedPath());\(steps)", identifier: "test.fault")
        try await host.request(crash, is: "succeeded")
      }
      gate.release()
      try await host.request(other, is: "succeeded")
      #expect(try await host.runs(of: other).count == 1)
      #expect(try await host.worker(of: "script.so") == worker)
    }
  }

  @Test(
    "41: a run that always crashes is a dead letter when its attempts are spent; at five in a row its plugin is quarantined until it is released"
  )
  func quarantine() async throws {
    try await HostProcess.withFault("faulty_crash", .process) { host in
      let id = try await host.submit("segfault", identifier: "test.fault")
      let request = try await host.request(id, is: "failed", within: .seconds(60))
      #expect(request["attempts_spent"]?.integer == 5)
      #expect(try await host.runs(of: id).compactMap { $0["outcome"]?.string } == Array(repeating: "crashed", count: 5))
      let plugin = try await host.plugin("fault.so")
      #expect(plugin["standing"]?.string == "quarantined", "\(plugin)")
      #expect(plugin["strikes"]?.integer == 5)
      #expect(plugin["last_trouble"]?.string?.contains("SIGSEGV") == true, "\(plugin)")
      // Requests wait and say why; others run; a restart does not forget.
      let waiting = try await host.submit("result 0", identifier: "test.fault")
      let why = try await host.json("tasks", "why", waiting)["gates"]?.array.compactMap(\.string) ?? []
      #expect(why.contains { $0.contains("quarantined") && $0.contains("plugins release test.fault") }, "\(why)")
      try await expectTwinRuns(host)
      try await host.terminate()
      try await host.start()
      #expect(try await host.plugin("fault.so")["standing"]?.string == "quarantined")
      let released = try await host.json("plugins", "release", "test.fault")
      #expect(released["strikes"]?.integer == 5, "\(released)")
      try await host.request(waiting, is: "succeeded")
      #expect(try await host.plugin("fault.so")["standing"]?.string == "registered")
    }
  }

  @Test(
    "41: in thread isolation the second crash that takes the host along moves the plugin to a worker; it crashes there, and the host lives")
  func movedToWorker() async throws {
    try await HostProcess.withFault("faulty_crash", .thread, "[retry]\nattempts = 20\ninitial = \"100ms\"\nmaximum = \"200ms\"\n") { host in
      let gate = try host.directory.fifo("gate")
      let waiting = try host.startCLI("submit", "test.twin", "--after", "1h")
      #expect(try await waiting.result().status == 0)
      let id = try await host.submit("gate \(gate.path);segfault", identifier: "test.fault")
      for crash in 1...2 {
        try await gate.pass()
        #expect(try await host.end().status == -SIGSEGV, "crash \(crash)")
        try await host.start()
        let plugin = try await host.plugin("fault.so")
        #expect(plugin["isolation"]?.string == (crash == 1 ? "thread" : "process"), "after crash \(crash): \(plugin)")
        #expect(plugin["strikes"]?.integer == Int64(crash), "\(plugin)")
        try await expectTwinRuns(host)
      }
      // From here on every crash is a worker's.
      var request = JSON.null
      for crash in 3...5 as ClosedRange<Int64> {
        try await gate.pass()
        request = try await host.request(id) { $0["attempts_spent"]?.integer == crash }
      }
      #expect(request["state"]?.string == "pending")
      #expect(host.isRunning)
      #expect(try await host.plugin("fault.so")["standing"]?.string == "quarantined")
      try await expectTwinRuns(host)
      // Released, it is what the configuration says again.
      _ = try await host.json("tasks", "cancel", id)
      _ = try await host.json("plugins", "release", "test.fault")
      try await host.terminate()
      try await host.start()
      #expect(try await host.plugin("fault.so")["isolation"]?.string == "thread")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
    }
  }

  @Test("41: a crash in thread isolation is held against the run that crashed; others that were running are lost")
  func blame() async throws {
    try await HostProcess.prepare(isolation: .thread) { host in
      try await host.add("fault.so", "faulty_crash")
      try await host.add("script.so", "script")
      try host.configure("")
      try await host.start()
      let gate = try host.directory.fifo("gate")
      let other = try await host.submit("gate \(gate.path)")
      try await gate.arrival()
      let second = try host.directory.fifo("second")
      let crash = try await host.submit("once \(try host.unusedPath());gate \(second.path);segfault", identifier: "test.fault")
      try await second.pass()
      #expect(try await host.end().status == -SIGSEGV)
      gate.release()
      try await host.start()
      try await gate.pass()
      try await host.request(other, is: "succeeded")
      try await host.request(crash, is: "succeeded")
      #expect(try await host.runs(of: other).compactMap { $0["outcome"]?.string } == ["succeeded", "lost"])
      #expect(try await host.runs(of: crash).compactMap { $0["outcome"]?.string } == ["succeeded", "crashed"])
      let innocent = try await host.plugin("script.so")
      #expect(innocent["strikes"]?.integer ?? 0 == 0 && innocent["last_trouble"] == nil, "\(innocent)")
    }
  }
}

extension HostProcess {
  /// As ``expectCrash(_:_:identifier:named:sourceLocation:)`` for plugins whose payload is one word: the request has one attempt.
  fileprivate func expectSingleCrash(
    _ payload: String, identifier: String, named words: [String], next: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let id = try await submit(payload, ["--after", "300ms"], identifier: identifier)
    if isolation == .thread {
      #expect(try await end().status != 0, sourceLocation: sourceLocation)
      try await start()
    }
    try await request(id, is: "failed")
    let record = try #require(try await records(of: id).last, sourceLocation: sourceLocation)
    #expect(record["outcome"]?.string == "crashed", "\(record)", sourceLocation: sourceLocation)
    let told = (record["trouble"]?.string ?? "") + (record["message"]?.string ?? "")
    #expect(words.contains { told.contains($0) }, "\(record)", sourceLocation: sourceLocation)
    #expect(try await run(next, identifier: identifier)["outcome"]?.string == "succeeded", sourceLocation: sourceLocation)
    try await expectTwinRuns(self, sourceLocation: sourceLocation)
  }
}
