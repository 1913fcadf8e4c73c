import TestSupport
import Foundation
import Glibc
import Testing

/// Faults 60, 61, 67 to 70, 76: runs that take as much as they can get.
@Suite("Faults 60, 61, 67-70, 76: runs that take too much", .timeLimit(.minutes(20)))
struct FaultResourceTests {
  @Test("60: memory ends at the limit, and the run can still say so")
  func memory() async throws {
    try await HostProcess.withFault("faulty_greedy", .process, "[plugin.\"test.fault\".limits]\nmemory = \"128MiB\"\n") { host in
      let answer = try await host.fault("memory")
      let taken = answer["run"]?["output"]?["mebibytes"]?.integer ?? -1
      #expect((32...128).contains(taken), "\(answer)")
      let id = try #require(answer["run"]?["id"]?.string)
      let peak = try await host.json("runs", "show", id)["peak_memory_bytes"]?.integer ?? 0
      #expect(peak > taken << 20, "\(peak)")
      try await expectTwinRuns(host)
    }
  }

  @Test("60: a run that aborts for want of memory is a crash like another")
  func memoryAbort() async throws {
    try await HostProcess.withFault("faulty_greedy", .process, "[plugin.\"test.fault\".limits]\nmemory = \"64MiB\"\n") { host in
      try await expectCrash(host, "memory-abort", named: ["SIGABRT"])
    }
  }

  @Test(
    "61: a thousand leaked descriptors end at the limit of the worker, whose link goes on; in thread isolation the host has room for them",
    arguments: Isolation.allCases)
  func descriptors(_ isolation: Isolation) async throws {
    let limits = isolation == .process ? "[plugin.\"test.fault\".limits]\ndescriptors = 128\n" : ""
    try await HostProcess.withFault("faulty_greedy", isolation, limits) { host in
      let output = try #require(try await host.fault("descriptors 1000")["run"]?["output"])
      if isolation == .process {
        #expect((50...127).contains(output["opened"]?.integer ?? 0), "\(output)")
        #expect(output["errno"]?.integer == Int64(EMFILE), "\(output)")
      }
      #expect(output["log"]?.integer == 0 && output["state"]?.integer == 0, "\(output)")
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
    }
  }

  @Test("60 61: threads end at the limit of the worker")
  func threads() async throws {
    try await HostProcess.withFault("faulty_greedy", .process, "[plugin.\"test.fault\".limits]\nprocesses = 24\n") { host in
      let output = try await host.fault("threads 200")["run"]?["output"]
      // Where neither cgroups nor another means can count a worker's threads, `status` says so.
      let sandbox = try await host.json("status")["sandbox"]
      let started = output?["started"]?.integer ?? 0
      #expect(started < 24 || sandbox != nil, "\(String(describing: output)) \(String(describing: sandbox))")
      #expect(output?["log"]?.integer == 0)
      try await expectTwinRuns(host)
    }
  }

  @Test("limits.cpu holds a worker to its quota and share, or plugins list says that nothing does")
  func processors() async throws {
    let limits = "[plugin.\"test.fault\".limits]\ncpu = { share = 20, quota = \"50%\" }\n"
    try await HostProcess.withFault("faulty_greedy", .process, limits) { host in
      _ = try await host.fault("threads 1")
      #expect(host.current.lines.contains { $0.contains("limits are not enforced: ") })
      let plugins = try await host.json("plugins", "list")["plugins"]?.array ?? []
      let lacking = plugins.first { $0["identifier"]?.string == "test.fault" }?["sandbox"]?.array.compactMap(\.string) ?? []
      // Tests run in no delegated group. Where a service has one, Tests/Package looks at the files of the group.
      for key in ["share", "quota"] {
        #expect(lacking.contains { $0.contains("limits.cpu.\(key): only a delegated cgroup") }, "\(lacking)")
      }
    }
  }

  @Test("60: a file that reaches its limit fails with EFBIG, not with a signal")
  func fileSize() async throws {
    try await HostProcess.withFault("faulty_greedy", .process) { host in
      let output = try #require(try await host.fault("file \(try host.unusedPath())")["run"]?["output"])
      #expect(output["open"]?.integer == 0, "\(output)")
      if output["limited"]?.integer == 1 { #expect(output["write"]?.integer == Int64(EFBIG), "\(output)") }
    }
  }

  @Test(
    "67: a gigabyte of log lines is dropped or cut, counted, and fills neither the host's memory nor its log", arguments: Isolation.allCases
  )
  func logFlood(_ isolation: Isolation) async throws {
    let configuration = "[plugin.\"test.fault\"]\nbudget = \"10s\"\ngrace = \"20s\"\n"
    try await HostProcess.withFault("faulty_greedy", isolation, configuration) { host in
      let id = try await host.submit("log 1073741824", identifier: "test.fault")
      _ = try await host.request(id) { $0["state"]?.string == "running" }
      try await expectTwinRuns(host)
      try await host.request(id, is: "succeeded", within: .seconds(60))
      let run = try #require(try await host.records(of: id).first)
      // More lines than a run's record keeps. How many more depends on the machine.
      #expect((run["output"]?["logged"]?.integer ?? 0) > 101 * 8192, "\(run["output"] ?? .null)")
      let lines = try await host.json("runs", "logs", run["id"]?.string ?? "")["lines"]?.array ?? []
      #expect((1...101).contains(lines.count))
      let resident = try #require(Processes.residentMiB(of: host.processID))
      #expect(resident < 400, "\(resident) MiB")
      #expect(host.current.lines.reduce(0) { $0 + $1.utf8.count } < 32 << 20, "the host's own log")
      try await expectTwinRuns(host)
    }
  }

  @Test("67: a flood on standard output and error does not stop the run or the host", arguments: Isolation.allCases)
  func printFlood(_ isolation: Isolation) async throws {
    // In thread isolation the host's own standard output and error are written to: less of it, the test reads it all.
    let bytes = isolation == .process ? 256 << 20 : 4 << 20
    try await HostProcess.withFault("faulty_greedy", isolation, "[plugin.\"test.fault\"]\nbudget = \"10s\"\ngrace = \"20s\"\n") { host in
      let answer = try await host.fault("print \(bytes)")
      #expect(answer["outcome"]?.string == "succeeded", "\(answer)")
      #expect((answer["run"]?["output"]?["printed"]?.integer ?? 0) >= 1 << 20)
      let resident = try #require(Processes.residentMiB(of: host.processID))
      #expect(resident < 400, "\(resident) MiB")
      if isolation == .process { #expect(host.current.lines.reduce(0) { $0 + $1.utf8.count } < 32 << 20, "the host's own log") }
      try await expectTwinRuns(host)
    }
  }

  @Test("67: line ends, escapes, bad UTF-8 and forged lines in what a run says stay what they are: text", arguments: Isolation.allCases)
  func injection(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_greedy", isolation) { host in
      let answer = try await host.fault("inject")
      #expect(answer["run"]?["output"]?["log"]?.integer == 0 && answer["run"]?["output"]?["message"]?.integer == 0, "\(answer)")
      let id = try #require(answer["run"]?["id"]?.string)
      let shown = try await host.cli("runs", "show", id)
      let logs = try await host.cli("runs", "logs", id)
      for text in [shown.output, logs.output] {
        #expect(!text.contains("\u{1B}") && !text.contains("\u{7}"), "\(text.debugDescription)")
        #expect(!text.split(separator: "\n").contains { $0.hasPrefix("{\"level\":\"error\"") }, "\(text)")
      }
      if isolation == .process {
        // What it printed came through the worker's pipes; no line of the host's log is the plugin's own.
        #expect(!host.current.lines.contains { $0.contains("\u{1B}") || $0.hasPrefix("{\"level\":\"error\",\"message\":\"forged\"") })
      }
      try await expectTwinRuns(host)
    }
  }

  @Test("68: a hundred thousand reports of progress, one above its total", arguments: Isolation.allCases)
  func progress(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_greedy", isolation) { host in
      let id = try await host.submit("progress 100000", identifier: "test.fault")
      try await expectTwinRuns(host)
      try await host.request(id, is: "succeeded", within: .seconds(120))
      let run = try #require(try await host.records(of: id).first)
      #expect(run["output"]?["taken"]?.integer == 100_000, "\(run)")
      #expect(
        run["progress"]?["completed"]?.integer == 7 && run["progress"]?["total"]?.integer == 7, "completed above total is total: \(run)")
      let resident = try #require(Processes.residentMiB(of: host.processID))
      #expect(resident < 400, "\(resident) MiB")
    }
  }

  @Test("69: keys and values at their limits, and beyond", arguments: Isolation.allCases)
  func stateEdges(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_greedy", isolation) { host in
      let output = try #require(try await host.fault("state-edges")["run"]?["output"])
      #expect(output["empty"]?.integer == -1, "\(output)")
      #expect([-1, -7].contains(output["long"]?.integer ?? 0), "\(output)")
      #expect(output["longest"]?.integer == 0)
      #expect(output["big"]?.integer == -7 && output["biggest"]?.integer == 0, "1 MiB and one byte: \(output)")
      #expect(output["read"]?.integer == 0 && output["length"]?.integer == 1 << 20)
      #expect(output["checkpoint_big"]?.integer == -7 && output["checkpoint_biggest"]?.integer == 0)
      try await expectTwinRuns(host)
    }
  }

  @Test("69: of 100,000 keys 10,000 are taken", arguments: Isolation.allCases)
  func stateKeys(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_greedy", isolation) { host in
      let id = try await host.submit("state-keys 100000", identifier: "test.fault")
      try await expectTwinRuns(host)
      try await host.request(id, is: "succeeded", within: .seconds(120))
      let output = try await host.lastOutput(of: id)
      #expect(output?["stored"]?.integer == 10_000 && output?["last"]?.integer == -10, "\(String(describing: output))")
      try await expectTwinRuns(host)
    }
  }

  @Test("70: a run that submits itself in a loop comes to max_pending, and no further", arguments: Isolation.allCases)
  func submitLoop(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_greedy", isolation, "max_pending = 20\n", arguments: ["-DMAX_RUNS=1"]) { host in
      let output = try #require(try await host.fault("submit-loop 1000")["run"]?["output"])
      #expect((19...20).contains(output["taken"]?.integer ?? 0), "\(output)")
      #expect(output["last"]?.integer == -10 && (output["error"]?.integer ?? 0) > 0, "ELIMIT with a sentence: \(output)")
      try await expectTwinRuns(host)
      // What was taken is done.
      for request in try await host.json("tasks", "list", "--identifier", "test.fault")["requests"]?.array ?? [] {
        try await host.request(request["id"]?.string ?? "", is: "succeeded")
      }
    }
  }

  @Test("70 76: a forbidden identifier, a payload and an output that are too big are refused by name", arguments: Isolation.allCases)
  func tooBig(_ isolation: Isolation) async throws {
    try await HostProcess.withFault("faulty_greedy", isolation) { host in
      #expect(try await host.fault("submit-forbidden test.twin")["run"]?["output"]?["submit"]?.integer == -4)
      for (steps, status) in [("submit-big 65536", 0), ("submit-big 65537", -7), ("output-big 65537", -7), ("output-big 1073741824", -7)] {
        // Without a limit on memory of a gigabyte the last one cannot be made in a worker: the run says nothing then.
        let output = try await host.fault(steps)["run"]?["output"]
        if steps.hasSuffix("1073741824"), isolation == .process, output?["status"] == nil { continue }
        #expect(output?["status"]?.integer == Int64(status), "\(steps): \(String(describing: output))")
        if status != 0 { #expect((output?["error"]?.integer ?? 0) > 0, "\(steps)") }
      }
      try await expectTwinRuns(host)
    }
  }
}

extension Processes {
  /// Resident memory of a process.
  static func residentMiB(of process: pid_t) -> Int? {
    guard let text = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8) else { return nil }
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 / 1024 }
  }
}
