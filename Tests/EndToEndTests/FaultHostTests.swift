import TestSupport
import Foundation
import Glibc
import Testing

/// Faults 78, 81, 85: what befalls the host itself, beyond what ``DurabilityTests``, ``StateDirectoryTests``, ``DrainTests`` and
/// ``HostileClientTests`` show.
@Suite("Faults 78, 81, 85: the host", .timeLimit(.minutes(20)))
struct FaultHostTests {
  @Test("78: workers die with a host that is killed, whatever they are doing, and nothing they do afterwards is taken")
  func workersDieWithHost() async throws {
    try await HostProcess.prepare { host in
      let (count, steps) = (4, ["gate", "busy", "read", "own-sleep"])
      for index in 0..<count { try await host.add("fault\(index).so", "faulty_hang", ["-DIDENTIFIER=\"test.fault\(index)\""]) }
      try await host.addTwin()
      try host.configure("")
      try await host.start()
      let (gate, notes) = (try host.directory.fifo("gate"), try host.directory.shared("notes"))
      var ids: [String] = []
      for index in 0..<count {
        ids.append(
          try await host.submit(
            "note \(notes);once \(host.directory("shared/marker\(index)"));\(steps[index]) \(gate.path)", identifier: "test.fault\(index)"))
      }
      try await gate.arrival()
      for id in ids { try await host.request(id) { $0["state"]?.string == "running" } }
      var workers: [pid_t] = []
      for index in 0..<count { if let worker = try await host.worker(of: "fault\(index).so") { workers.append(worker) } }
      #expect(workers.count == count)
      await host.kill()
      for worker in workers { try await Processes.end(of: worker) }
      gate.release()
      try await host.start()
      for id in ids {
        let request = try await host.request(id, is: "succeeded")
        #expect(request["attempts_spent"]?.integer == 0, "\(request)")
        let outcomes = try await host.runs(of: id).compactMap { $0["outcome"]?.string }
        #expect(outcomes.first == "succeeded" && outcomes.dropFirst().allSatisfy { $0 == "lost" }, "\(outcomes)")
      }
    }
  }

  @Test("78: a worker is not left behind when the host ends, however it ends", arguments: [SIGKILL, SIGTERM, SIGSEGV])
  func noWorkerIsLeft(_ signal: Int32) async throws {
    try await HostProcess.withFault("faulty_hang", .process) { host in
      #expect(try await host.fault("result 0")["outcome"]?.string == "succeeded")
      try await expectTwinRuns(host)
      let workers = host.children()
      #expect(!workers.isEmpty)
      host.signal(signal)
      _ = try await host.end()
      for worker in workers + Processes.mapping(host.directory) { try await Processes.end(of: worker) }
    }
  }

  // MARK: 81

  /// A calendar that the test sets.
  private struct Calendar {
    private let file: String
    private let news: String

    init(_ host: TestDirectory) throws {
      file = try host.file("calendar", Data(count: 8))
      news = host("calendar-set")
      guard mkfifo(news, 0o600) == 0 else { throw TestFailure("mkfifo: \(String(cString: strerror(errno)))") }
    }

    func set(_ shift: Duration) throws {
      let handle = try FileHandle(forWritingTo: URL(filePath: file))
      try handle.write(contentsOf: withUnsafeBytes(of: shift.components.seconds * 1_000_000_000) { Data($0) })
      try handle.close()
      // The host is told as the kernel tells it. Both ways, so that nobody has to be there yet.
      let fifo = open(news, O_RDWR | O_NONBLOCK | O_CLOEXEC)
      defer { close(fifo) }
      guard write(fifo, "s", 1) == 1 else { throw TestFailure("the host cannot be told that the calendar was set") }
    }
  }

  private func withCalendar(_ body: @Sendable (HostProcess, Calendar) async throws -> Void) async throws {
    let folder = try TestDirectory()
    let shift = try folder.file("clock_shift.so", try await Fixtures.shared.bytes(of: "clock_shift"))
    let set = try folder.file("clock_set.so", try await Fixtures.shared.bytes(of: "clock_set"))
    let calendar = try Calendar(folder)
    try await HostProcess.prepare(environment: [
      "LD_PRELOAD": "\(shift):\(set)", "TASKHOST_TEST_CLOCK": folder("calendar"), "TASKHOST_TEST_CLOCK_SET": folder("calendar-set"),
    ]) { host in
      try await host.add("script.so", "script")
      try await host.addTwin()
      try host.configure("[plugin.\"test.script\"]\nbudget = \"10m\"\n")
      try await host.start()
      try await body(host, calendar)
    }
  }

  @Test("81: the calendar set forward a day: what was due at a time is due, a live run is not expired")
  func forward() async throws {
    try await withCalendar { host, calendar in
      let gate = try host.directory.fifo("gate")
      let live = try await host.submit("gate \(gate.path);facts")
      try await gate.arrival()
      let later = try await host.submit("result 0", ["--at", ISO8601DateFormatter().string(from: Date.now + 6 * 3600)])
      let muchLater = try await host.submit("result 0", ["--at", ISO8601DateFormatter().string(from: Date.now + 48 * 3600)])
      try calendar.set(.seconds(86_400))
      // Nothing else wakes the host.
      try await host.request(later, is: "succeeded")
      #expect(try await host.json("tasks", "show", muchLater)["state"]?.string == "pending")
      gate.release()
      try await host.request(live, is: "succeeded")
      #expect(try await host.runs(of: live).first?["expired"]?.bool == false)
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("81: the calendar set back a day: what is submitted from then on runs, a live run ends as it would have, times stay in order")
  func back() async throws {
    try await withCalendar { host, calendar in
      let gate = try host.directory.fifo("gate")
      let live = try await host.submit("gate \(gate.path);facts")
      try await gate.arrival()
      try calendar.set(.seconds(-86_400))
      try await expectTwinRuns(host)
      gate.release()
      let request = try await host.request(live, is: "succeeded")
      #expect(request["attempts_spent"]?.integer == 0)
      let run = try #require(try await host.runs(of: live).first)
      #expect(run["expired"]?.bool == false)
      #expect((0...60_000).contains(run["duration_ms"]?.integer ?? -1), "a duration is of the monotonic clock: \(run)")
      // A retry's backoff is not a day longer.
      let retried = try await host.submit("result-until 2 3")
      try await host.request(retried, is: "succeeded")
      try calendar.set(.zero)
      try await expectTwinRuns(host)
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test("81: a delay is a delay, whatever the calendar does meanwhile")
  func delay() async throws {
    try await withCalendar { host, calendar in
      let id = try await host.submit("result 0", ["--after", "2s"])
      try calendar.set(.seconds(-86_400))
      try await host.request(id, is: "succeeded", within: .seconds(20))
      let daily = try await host.submit("result 0", ["--after", "1h"])
      try calendar.set(.seconds(86_400))
      try await expectTwinRuns(host)
      #expect(try await host.json("tasks", "show", daily)["state"]?.string == "pending")
    }
  }

  // MARK: 85

  @Test("85: a host without descriptors serves again when there are some", arguments: Isolation.allCases)
  func descriptors(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.addTwin()
      try host.configure("")
      try host.spawn(through: ["/usr/bin/prlimit", "--nofile=128:128", "--"])
      try await host.current.line(with: "control socket open")
      try await host.current.line(with: "launched:")
      let socket = host.socket
      let clients = try await onThread {
        let clients = Clients()
        // Some are refused, or wait: both are right.
        for _ in 0..<300 { if let client = try? SocketClient(socket, limit: .seconds(5)) { clients.all.append(client) } }
        return clients
      }
      #expect(host.isRunning)
      clients.all = []
      try await expectTwinRuns(host)
      let id = try await host.submit("x", ["--after", "1h"], identifier: "test.twin")
      #expect(try await host.json("tasks", "show", id)["state"]?.string == "pending")
      #expect(try await host.terminate().status == 0)
    }
  }

  @Test(
    "85: a host without threads lets runs wait, and does them when there are some",
    .enabled(if: geteuid() == 0, "runs the host as another user"), arguments: Isolation.allCases)
  func threads(_ isolation: Isolation) async throws {
    try await HostProcess.prepare(isolation: isolation) { host in
      try await host.add("script.so", "script", ["-DMAX_RUNS=64"])
      try await host.addTwin()
      // A run for which there is no thread is tried again, and again.
      try host.configure("max_concurrent_runs = 64\n[retry]\nattempts = 1000\ninitial = \"100ms\"\nmaximum = \"200ms\"\n")
      // The limit counts a user's threads: a user that nobody else is.
      let user = UInt32.random(in: 100_000...2_000_000)
      for path in [host.directory.path] + (FileManager.default.subpaths(atPath: host.directory.path) ?? []).map({ host.directory($0) }) {
        chown(path, user, user)
      }
      let gates = try (0..<60).map { try host.directory.fifo("gate\($0)") }
      for gate in gates { chown(gate.path, user, user) }
      try host.spawn(through: [
        "/usr/bin/setpriv", "--reuid=\(user)", "--regid=\(user)", "--clear-groups", "/usr/bin/prlimit", "--nproc=48", "--",
      ])
      try await host.current.line(with: "control socket open")
      try await host.current.line(with: "launched:")
      var ids: [String] = []
      for gate in gates { ids.append(try await host.submit("gate \(gate.path)")) }
      #expect(host.isRunning)
      // Each comes to its gate in time, whether at once or when others have gone.
      try await withThrowingTaskGroup(of: Void.self) { group in
        for gate in gates { group.addTask { try await gate.pass() } }
        try await group.waitForAll()
      }
      for id in ids { try await host.request(id, is: "succeeded", within: .seconds(60)) }
      // A worker keeps its threads while it is warm: none may be left for another's.
      if isolation == .thread { try await expectTwinRuns(host) }
      #expect(host.isRunning)
      #expect(try await host.terminate().status == 0)
    }
  }

  /// Connections that are kept open.
  private final class Clients: @unchecked Sendable {  // reason: used by one thread after the other
    var all: [SocketClient] = []
  }
}
