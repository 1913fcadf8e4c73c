import Foundation
import Synchronization
import TaskModel
import Testing

@Suite("Any sequence of events") struct WalkTests {
  /// What the walks have found and met.
  private final class Findings: Sendable {
    let next: Atomic<UInt64>
    let found = Mutex<(failures: [String], tally: WalkTally)>(([], WalkTally()))

    init(first: UInt64) { next = Atomic(first) }
  }

  private static let environment = ProcessInfo.processInfo.environment

  #if DEBUG
    private static let usual: UInt64 = 1000
  #else
    private static let usual: UInt64 = 10_000
  #endif

  @Test("keeps the scheduler's promises")
  func promises() async {
    // One seed: TASKHOST_SEED; more: TASKHOST_SEQUENCES.
    let first = Self.environment["TASKHOST_SEED"].flatMap { UInt64($0) } ?? 1
    let count = Self.environment["TASKHOST_SEED"] != nil ? 1 : Self.environment["TASKHOST_SEQUENCES"].flatMap { UInt64($0) } ?? Self.usual
    let findings = Findings(first: first)
    let clock = ContinuousClock()
    let time = await clock.measure {
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<max(1, ProcessInfo.processInfo.activeProcessorCount) {
          group.addTask { Self.walk(findings, until: first + count) }
        }
      }
    }
    let (failures, tally) = findings.found.withLock { $0 }
    for failure in failures.prefix(5) { Issue.record("\(failure)") }
    #expect(failures.isEmpty, "\(failures.count) of \(count) sequences failed")
    print("\(count) sequences in \(time): \(tally)")
    guard count >= 1000 else { return }
    // Walks that met nothing prove nothing.
    for outcome in RunOutcome.allCases { #expect(tally.ends[outcome, default: 0] > 0, "no run ended \(outcome)") }
    for gate in ["conditions", "window", "key_busy", "resource", "rate", "host_busy", "plugin_busy", "standing", "suspended", "no_handler"]
    {
      #expect(tally.gates[gate, default: 0] > 0, "nothing was held by \(gate)")
    }
    #expect(tally.updated > 0 && tally.retried > 0 && tally.events > 0 && tally.jumps > 0 && tally.restarts > 0 && tally.failedCommits > 0)
    #expect(tally.ahead > 3, "hardly anything was handed out ahead")
  }

  private static func walk(_ findings: Findings, until end: UInt64) {
    while true {
      let seed = findings.next.add(1, ordering: .relaxed).oldValue
      guard seed < end else { return }
      var tally = WalkTally()
      var failure: String?
      do {
        let walk = try Walk(seed: seed)
        walk.isTraced = Self.environment["TASKHOST_SEED"] != nil
        do {
          for _ in 0..<30 { try walk.step() }
          try walk.settleAll()
        } catch { failure = "TASKHOST_SEED=\(seed), step \(walk.steps), \(walk.event): \(error)" }
        tally = walk.tally
      } catch { failure = "TASKHOST_SEED=\(seed): \(error)" }
      let (sum, found) = (tally, failure)
      findings.found.withLock { found_ in
        found_.tally.add(sum)
        if let found { found_.failures.append(found) }
      }
    }
  }
}
