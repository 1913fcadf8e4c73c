import TestSupport
import Foundation
import HostThreads
import LauncherConformance
import TaskModel
import WorkerProcesses

/// The figures of worker processes beside those of threads.
enum Measurements {
  static func all() async throws {
    try await coldStart()
    for _ in 0..<2 {
      try await latency()
      try await throughput()
    }
    try await memory()
  }

  /// From `start` to the end of the first run, and to its handler, in a worker that is not there yet.
  private static func coldStart() async throws {
    let bench = try Bench(.processes)
    let worker = try bench.worker(try Bench.spec(try await CompiledFixtures.plugin("runtime_expire", ["MEASURED"])))
    let contract = try bench.add(try await Bench.launch(worker), budget: .milliseconds(20))
    var times: [Double] = []
    for _ in 0..<40 {
      worker.retire()
      while worker.processID != nil { usleep(500) }
      let probe = try Probe()
      let begin = SystemClock.now
      _ = try await bench.run(contract, payload: probe.payload)
      times.append(Double(probe[11] - begin.nanoseconds) / 1e6)
    }
    summarize("cold start to first handler", times, "ms")
  }

  private static func benches() async throws -> [(String, Bench, HandlerContract, Ends)] {
    var result: [(String, Bench, HandlerContract, Ends)] = []
    for isolation in Isolation.allCases {
      let ends = Ends()
      let bench = try Bench(isolation, recorder: Recorder(observe: { ends.receive($0) }))
      result.append((isolation.rawValue, bench, try await bench.load("runtime_result", ["FOR_MEASURE_\(isolation)"], concurrent: 4), ends))
    }
    return result
  }

  private static func latency() async throws {
    for (name, bench, contract, ends) in try await benches() {
      let times = try await onThread {
        (0..<2200).map { _ -> Double in
          let order = bench.order(contract, payload: [0x30])
          let begin = SystemClock.now
          let target = ends.count + 1
          bench.launcher.start([order])
          ends.wait(for: target)
          return Double((SystemClock.now - begin).wholeNanoseconds) / 1e3
        }
      }
      summarize("warm run, \(name)", Array(times.dropFirst(200)), "us")
      _ = try await bench.shutdown()
    }
  }

  /// Batches of 64, the next as soon as one is half done.
  private static func throughput() async throws {
    for (name, bench, contract, ends) in try await benches() {
      let rates = try await onThread {
        (0..<4).map { _ -> Double in
          let batches = 600
          let start = ends.count
          let begin = SystemClock.now
          for number in 1...batches {
            bench.launcher.start((0..<64).map { _ in bench.order(contract, payload: [0x30]) })
            ends.wait(for: start + 64 * max(0, number - 3))
          }
          ends.wait(for: start + 64 * batches)
          return Double(64 * batches) / Double((SystemClock.now - begin).wholeNanoseconds) * 1e9
        }
      }
      tell("throughput, \(name): \(rates.map { Int($0) }) runs/s")
      _ = try await bench.shutdown()
    }
  }

  private static func memory() async throws {
    let bench = try Bench(.processes)
    let launched = try await bench.launch("runtime_result", ["MEASURED"])
    let contract = try bench.add(launched)
    guard let process = launched.worker?.processID else { throw TestFailure("there is no worker") }
    tell("private memory, launched: \(try privateMemory(process)) KiB")
    for _ in 0..<100 { _ = try await bench.run(contract, payload: [0x30]) }
    tell("private memory, idle after 100 runs: \(try privateMemory(process)) KiB")
  }

  private static func privateMemory(_ process: Int32) throws -> Int {
    let text = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
    return text.split(separator: "\n").filter { $0.hasPrefix("Private_Dirty:") || $0.hasPrefix("Private_Clean:") }
      .compactMap { Int($0.split(separator: " ")[1]) }.reduce(0, +)
  }

  private static func summarize(_ what: String, _ values: [Double], _ unit: String) {
    let sorted = values.sorted()
    func at(_ share: Double) -> String { String(format: "%.1f", sorted[Int(Double(sorted.count - 1) * share)]) }
    tell("\(what): median \(at(0.5)) \(unit), 90 % \(at(0.9)), 99 % \(at(0.99)), least \(at(0)), n = \(values.count)")
  }
}

/// Counts ends.
final class Ends: @unchecked Sendable {  // reason: touched with `monitor` held
  private let monitor = Monitor()
  private var ended = 0
  private var wanted = Int.max

  var count: Int { monitor.locked { ended } }

  func receive(_ event: LauncherEvent) {
    guard case .ended = event else { return }
    monitor.locked {
      ended += 1
      if ended >= wanted { monitor.broadcast() }
    }
  }

  func wait(for number: Int) {
    monitor.locked {
      wanted = number
      while ended < number { monitor.wait() }
      wanted = .max
    }
  }
}
