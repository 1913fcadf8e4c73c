import TestSupport
import Foundation
import Glibc
import Testing

/// Faults 56 to 59, 62 to 66, 71: runs that misuse what they are given.
@Suite("Faults 56-59, 62-66, 71: runs that misuse what they are given", .timeLimit(.minutes(20)))
struct FaultRunMisuseTests {
  @Test("56: another plugin's handle, of a run that is over, changes nothing", arguments: Isolation.allCases)
  func foreignHandle(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("fault.so", "faulty_misuse")
      try await host.add("other.so", "faulty_misuse", ["-DIDENTIFIER=\"test.other\""])
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      // Two runs there, so that the second handle is one that this plugin's own runs do not have.
      _ = try await host.run("handle", identifier: "test.other")
      let other = try await host.run("handle", identifier: "test.other")
      let handle = try #require(other["run"]?["output"]?["handle"]?.string)
      for handle in [handle, "0", "1", "18446744073709551615", "6510615555426900570"] {
        let output = try #require(try await host.fault("use \(handle)")["run"]?["output"])
        // In a worker of its own the same number may be this very run's.
        if isolation == .process, output["payload"]?.integer == 0 { continue }
        for call in ["payload", "log", "output", "state"] { #expect(output[call]?.integer == -5, "\(call) with \(handle): \(output)") }
        #expect(output["identifier"]?.string == "")
      }
      let record = try await host.records(of: other["submission"]?["id"]?.string ?? "").first
      #expect(record?["output"]?["handle"]?.string == handle, "the other's record is as it was")
      try await expectTwinRuns(host)
    }
  }

  @Test("57: NULL, wrong sizes and numbers out of range in every call are refused", arguments: Isolation.allCases)
  func nulls(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("null.so", "runtime_null", ["-DONCE"])
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      let result = try await host.cli("submit", "test.runtime.null", "--wait", "--json")
      #expect(result.status == 0, "\(result.output) \(result.errors)")
      try await expectTwinRuns(host)
    }
  }

  @Test("58: a payload that is read after its run harms nobody else", arguments: Isolation.allCases)
  func readsLater(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_misuse", isolation) { host in
      let (gate, answer) = (try host.directory.fifo("gate"), try host.directory.fifo("answer"))
      let run = try await host.fault("read-later \(gate.path) \(answer.path)")
      #expect(run["outcome"]?.string == "succeeded")
      for _ in 1...5 { #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded") }
      try await gate.pass()
      // What it reads is undefined; that it answers shows that the memory was there still.
      let told = try JSON(parsing: try await answer.read())
      #expect(told["sum"] != nil)
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test("59: a payload that a run writes over is whole again at its next attempt", arguments: Isolation.allCases)
  func writesPayload(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_misuse", isolation) { host in
      let marker = try host.unusedPath()
      let payload = "once \(marker);write-payload;result 3"
      let id = try await host.submit(payload, identifier: "test.fault")
      // Its second attempt comes to `once` again, which is in the payload.
      try await host.request(id, is: "succeeded")
      #expect(try await host.runs(of: id).count == 2)
      #expect(try await host.json("tasks", "show", id)["payload"]?.string == payload)
      try await expectTwinRuns(host)
    }
  }

  @Test("62: a run that closes every descriptor, the link to the host among them, loses its worker and nothing else")
  func closesAll() async throws {
    try await HostProcess.withFault("faulty_misuse", .process) { host in
      let marker = try host.unusedPath()
      let id = try await host.submit("once \(marker);close-all;gate /nowhere;result 3", identifier: "test.fault")
      try await host.request(id, is: "succeeded")
      let record = try #require(try await host.records(of: id).last)
      #expect(["crashed", "retried"].contains(record["outcome"]?.string), "\(record)")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test(
    "63: working directory, file mode mask, locale, environment and signal mask are the run's own business", arguments: Isolation.allCases)
  func surroundings(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      // Credentials are the whole process's: in thread isolation the operator trusts the plugin with them.
      try await host.add("fault.so", "faulty_misuse", isolation == .process ? ["-DCREDENTIALS"] : [])
      try await host.add("other.so", "faulty_misuse", ["-DIDENTIFIER=\"test.other\""])
      try await host.addTwin()
      try host.configure("state_directory = \"state\"\n")
      try await host.start()
      let before = try await host.run("facts", identifier: "test.other")["run"]?["output"]
      let changed = try await host.fault("surroundings")
      #expect(changed["outcome"]?.string == "succeeded", "\(changed)")
      if isolation == .process {
        let after = try await host.run("facts", identifier: "test.other")["run"]?["output"]
        #expect(after == before, "another plugin's surroundings are as they were")
      }
      // The same thread serves the next run; it can still be told to end, and the host does not depend on any of it.
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
      let id = try await host.submit("result 0", ["--after", "1h"], identifier: "test.fault")
      #expect(try await host.terminate().status == 0)
      try await host.start()
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "pending")
    }
  }

  @Test("64: handlers for SIGSEGV and SIGCHLD, and ignored signals, hide no crash from the host")
  func signals() async throws {
    try await HostProcess.prepare { host in
      try await host.add("fault.so", "faulty_misuse")
      try await host.add("crash.so", "faulty_crash", ["-DIDENTIFIER=\"test.crash\""])
      try await host.addTwin()
      try host.configure("[plugin.\"test.fault\"]\nbudget = \"500ms\"\ngrace = \"200ms\"\n")
      try await host.start()
      #expect(try await host.fault("signals")["outcome"]?.string == "succeeded")
      let id = try await host.submit("once \(try host.unusedPath());segfault", identifier: "test.crash")
      try await host.request(id, is: "succeeded")
      #expect(try await host.runs(of: id).last?["outcome"]?.string == "crashed")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test(
    "64 65: a plugin in thread isolation that ignores SIGCHLD, handles it, or reaps the host's children does not keep the host from noticing its workers' ends",
    arguments: ["auto-reap", "signals", "reap"])
  func takesChildren(_ steps: String) async throws {
    try await HostProcess.prepare { host in
      try await host.add("thread.so", "faulty_misuse", ["-DIDENTIFIER=\"test.thread\""])
      try await host.add("fault.so", "faulty_crash")
      try await host.addTwin()
      try host.configure("", threads: ["test.thread"])
      try await host.start()
      let gate = try host.directory.fifo("gate")
      let thread = try await host.submit(steps == "reap" ? "reap \(gate.path)" : "\(steps);gate \(gate.path)", identifier: "test.thread")
      try await gate.arrival()
      for round in 1...3 {
        let id = try await host.submit("once \(try host.unusedPath());segfault", identifier: "test.fault")
        try await host.request(id, is: "succeeded")
        #expect(try await host.runs(of: id).compactMap { $0["outcome"]?.string } == ["succeeded", "crashed"], "round \(round)")
      }
      gate.release()
      try await host.request(thread, is: "succeeded")
      try await expectTwinRuns(host)
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("65: a run that reaps children in its worker finds none that matter")
  func reaps() async throws {
    try await HostProcess.withFault("faulty_misuse", .process) { host in
      let gate = try host.directory.fifo("gate")
      let id = try await host.submit("reap \(gate.path)", identifier: "test.fault")
      try await gate.pass()
      try await host.request(id, is: "succeeded")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test("66: a worker may not fork: a daemon never comes to be", arguments: ["daemon", "exec"])
  func forkDenied(_ steps: String) async throws {
    try await HostProcess.withFault("faulty_misuse", .process) { host in
      let held = try host.directory.fifo("held")
      let run = try await host.fault("\(steps) \(held.path)")["run"]
      let output = run?["output"]
      #expect([EPERM, EACCES].map(Int64.init).contains(output?["fork"]?.integer), "\(String(describing: run))")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test("66: where a plugin may start programs, a daemon dies with its worker", arguments: ["daemon", "exec"])
  func daemonDies(_ steps: String) async throws {
    try await HostProcess.prepare { host in
      try await host.add("fault.so", "faulty_misuse")
      try await host.addTwin()
      try host.configure(
        """
        [plugin."test.fault".entitlements]
        write = ["\(host.directory("shared"))"]
        read = ["/bin", "/usr/bin"]
        exec = true

        """)
      try await host.start()
      let held = try host.directory.fifo("held")
      let id = try await host.submit("\(steps) \(held.path)", identifier: "test.fault")
      // The end of the FIFO comes when nobody holds it any more: the daemon has gone.
      let gone = Task { try await held.read() }
      try await host.request(id, is: "succeeded")
      let output = try await host.lastOutput(of: id)
      #expect(output?["fork"]?.integer == 0, "\(String(describing: output))")
      #expect(output?["setsid"]?.integer == Int64(EPERM), "it cannot leave its group: \(String(describing: output))")
      try await expectTwinRuns(host)
      #expect(try await host.terminate().status == 0)
      _ = try await gone.value
    }
  }

  @Test("71: a run that cancels itself is told CANCELLED and ends cancelled", arguments: Isolation.allCases)
  func cancelsItself(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_misuse", isolation) { host in
      let answer = try await host.fault("cancel-itself;result 3")
      #expect(answer["outcome"]?.string == "cancelled", "\(answer)")
      #expect(answer["run"]?["output"]?["cancel"]?.integer == 0)
      #expect(answer["run"]?["output"]?["stop_reason"]?.integer == 2)
      let id = try #require(answer["submission"]?["id"]?.string)
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "cancelled")
      try await expectTwinRuns(host)
    }
  }

  @Test("29 50: a run cannot kill the host from its worker")
  func killsHost() async throws {
    try await HostProcess.withFault("faulty_crash", .process) { host in
      let run = try await host.fault("kill-host")["run"]
      for call in ["parent", "first_thread", "queue"] {
        #expect(run?["output"]?[call]?.integer == -1, "\(call): \(String(describing: run))")
      }
      #expect(host.isRunning)
      try await expectTwinRuns(host)
    }
  }
}
