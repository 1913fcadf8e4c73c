import TaskModel

/// How often things happened in walks: a walk that meets nothing proves nothing.
struct WalkTally {
  var submitted = 0, updated = 0, refused = 0, failedCommits = 0, passed = 0, retried = 0, events = 0, jumps = 0, restarts = 0, starts = 0
  /// The most that was handed out ahead at once.
  var ahead = 0
  var ends: [RunOutcome: Int] = [:]
  var gates: [String: Int] = [:]

  mutating func add(_ other: WalkTally) {
    submitted += other.submitted
    updated += other.updated
    refused += other.refused
    failedCommits += other.failedCommits
    passed += other.passed
    retried += other.retried
    events += other.events
    jumps += other.jumps
    restarts += other.restarts
    starts += other.starts
    ahead = max(ahead, other.ahead)
    ends.merge(other.ends, uniquingKeysWith: +)
    gates.merge(other.gates, uniquingKeysWith: +)
  }
}
