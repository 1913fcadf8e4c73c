import FleetStore
import HostThreads
import TaskModel

/// How many live requests each identifier has in the fleet, as far as this host knows.
///
/// The host counts what it adds, and asks the database before it has added a tenth of what may still come. So the fleet's hosts together
/// go little beyond `fleet.max_pending`, and submissions ask rarely.
final class FleetCounts: Sendable {
  private struct Known {
    var count: Int
    /// How many were added here since.
    var added = 0
    let asked: MonotonicTime
  }

  private let most: Int
  private let known = Guarded<[TaskIdentifier: Known]>([:])
  /// How long a full identifier is full without another question.
  private static let pause = Duration.seconds(1)

  init(most: Int) { self.most = most }

  /// Counts requests that are about to be added.
  ///
  /// - Returns: Why they are too many; nil if they are not.
  func add(_ identifiers: some Sequence<TaskIdentifier>, _ session: FleetSession) throws(FleetError) -> RequestRefusal? {
    var counts: [TaskIdentifier: Int] = [:]
    for identifier in identifiers { counts[identifier, default: 0] += 1 }
    for (identifier, count) in counts where needsAnswer(identifier, count) {
      let live = try session.liveCount(of: identifier)
      known.withLock { $0[identifier] = Known(count: live, asked: SystemClock.now) }
    }
    return known.withLock { known in
      for (identifier, count) in counts {
        guard let one = known[identifier], one.count + one.added + count > most else { continue }
        return RequestRefusal(
          .limit,
          "\(identifier) has \(one.count + one.added) live requests in the fleet, and may have \(most) (fleet.max_pending): cancel some, or raise that"
        )
      }
      for (identifier, count) in counts { known[identifier]?.added += count }
      return nil
    }
  }

  private func needsAnswer(_ identifier: TaskIdentifier, _ count: Int) -> Bool {
    known.withLock { known in
      guard let one = known[identifier] else { return true }
      let isFar = one.added + count <= (most - one.count) / 10
      return !isFar && SystemClock.now - one.asked >= Self.pause
    }
  }
}
