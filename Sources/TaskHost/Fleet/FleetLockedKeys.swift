import HostThreads
import TaskModel
import TaskScheduler

/// What submissions had in common with another transaction that did not end in time. For a while, others that have it too are refused at once: each
/// would wait as long, and everything behind it.
struct FleetLockedKeys {
  private enum Key: Hashable {
    case unique(FleetUniqueKey)
    case idempotency(String)
    case lane(Lane)
  }

  private var until: [Key: MonotonicTime] = [:]
  /// When the last of them is forgotten.
  private var end = MonotonicTime(nanoseconds: 0)
  private static let pause = Duration.seconds(1)
  private static let most = 1000

  /// One of these waited in vain.
  mutating func note(_ submissions: [FleetSubmission], _ numbers: FleetLaneNumbers) {
    let now = SystemClock.now
    until = until.filter { $0.value > now }
    end = now + Self.pause
    for key in Self.keys(of: submissions, numbers) where until.count < Self.most { until[key] = end }
  }

  func contain(_ submissions: [FleetSubmission], _ numbers: FleetLaneNumbers) -> Bool {
    let now = SystemClock.now
    guard now < end else { return false }
    return Self.keys(of: submissions, numbers).contains { key in until[key].map { $0 > now } ?? false }
  }

  /// Any of them may be the one that is held. A lane that has a number is not.
  private static func keys(of submissions: [FleetSubmission], _ numbers: FleetLaneNumbers) -> [Key] {
    var keys: [Key] = []
    for submission in submissions {
      let (request, lane) = (submission.record.request, submission.record.lane)
      if let key = request.uniqueKey { keys.append(.unique(FleetUniqueKey(request.identifier, key))) }
      if let key = request.idempotencyKey { keys.append(.idempotency(key)) }
      if !numbers.know(lane) { keys.append(.lane(lane)) }
    }
    return keys
  }
}
