import TestSupport
import Foundation
import LauncherConformance
import TaskModel
import WorkerProcesses

/// What a test makes a host do, which tells by lines of its output how it went.
enum HostScenes {
  /// A worker and a child of it run; the host waits to be killed. Prints both numbers.
  static func hold() async throws {
    let bench = try Bench(.processes)
    let worker = try bench.worker(try Bench.spec(try await CompiledFixtures.plugin("worker_actions"), exec: true))
    let contract = try bench.add(try await Bench.launch(worker))
    let probe = try Probe()
    bench.start(contract, payload: probe.payload("spawn+hold"))
    try await probe.reached()
    tell("worker \(probe[0])")
    tell("child \(probe[1])")
    while true { pause() }
  }

  /// Prints how many descriptors are open before and after 200 workers that ended in all sorts of ways.
  static func descriptors() async throws {
    let bench = try Bench(.processes)
    let plugin = try await CompiledFixtures.plugin("worker_actions")
    let worker = try bench.worker(try Bench.spec(plugin))
    let contract = try bench.add(try await Bench.launch(worker))
    let actions = ["crash", "exit", "killed", "pid"]
    var before = 0
    for number in 0..<220 {
      let action = actions[number % actions.count]
      _ = try await bench.run(contract, payload: Probe().payload(action))
      if action == "pid" { try await retire(worker) }
      if number == 19 { before = try openDescriptors() }
    }
    try await retire(worker)
    // A reaped worker's last descriptors are closed a moment later; what is left behind stays.
    let after = try await onThread { [before] in
      let deadline = Date(timeIntervalSinceNow: 10)
      while try openDescriptors() > before, Date() < deadline { usleep(1000) }
      return try openDescriptors()
    }
    tell("before \(before) after \(after)")
  }

  /// Lets the worker go and waits until it is reaped.
  private static func retire(_ worker: PluginWorker) async throws {
    worker.retire()
    try await onThread {
      let deadline = Date(timeIntervalSinceNow: 30)
      while worker.processID != nil {
        guard Date() < deadline else { throw TestFailure("the worker is not reaped") }
        usleep(1000)
      }
    }
  }

  private static func openDescriptors() throws -> Int { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }

  /// No descriptor is left when a worker has to be started.
  static func limit() async throws {
    let bench = try Bench(.processes)
    let worker = try bench.worker(try Bench.spec(try await CompiledFixtures.plugin("worker_actions")))
    let contract = try bench.add(try await Bench.launch(worker))
    let first = try Probe()
    try await retire(worker)
    var limits = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    limits.rlim_cur = 64
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits)
    var taken: [Int32] = []
    while true {
      let descriptor = dup(0)
      guard descriptor >= 0 else { break }
      taken.append(descriptor)
    }
    // Whichever descriptor is the first that cannot be had.
    while true {
      let shortage = try await bench.recorder.endOrShortage(of: bench.start(contract, payload: first.payload("pid")))
      tell("\(taken.count) taken: \(shortage.map { "given back: \($0)" } ?? "success")")
      guard shortage != nil, let last = taken.popLast() else { break }
      close(last)
    }
  }

  /// Somebody else takes the ends of all children.
  static func reaped() async throws {
    let bench = try Bench(.processes)
    let worker = try bench.worker(try Bench.spec(try await CompiledFixtures.plugin("worker_actions")))
    let contract = try bench.add(try await Bench.launch(worker))
    signal(SIGCHLD, SIG_IGN)
    for action in ["crash", "killed", "pid", "exit", "pid"] {
      let end = try await bench.recorder.end(of: bench.start(contract, payload: Probe().payload(action)), within: 20)
      tell("\(action): \(end.ending.outcome)")
    }
    try await retire(worker)
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    tell("cpu \(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) s")
    tell("left \(try await bench.shutdown())")
  }
}
