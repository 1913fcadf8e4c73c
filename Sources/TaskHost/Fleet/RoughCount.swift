import FleetStore
import HostThreads
import TaskModel

/// Keeps how many there are of something in the fleet within a limit, for each identifier.
///
/// The host counts what it adds, and asks the database before it has added a tenth of what may still come. So the fleet's hosts together
/// go little beyond it, and additions ask rarely.
final class RoughCount: Sendable {
  private struct Known {
    var count: Int
    /// How many were added here since.
    var added = 0
    /// Whether additions were refused.
    var isFull = false
    let asked: MonotonicTime
    var live: Int { count + added }
  }

  let most: Int
  private let known = Guarded<[TaskIdentifier: Known]>([:])
  /// How long the database is not asked again about an identifier that is full.
  private let pause = Duration.seconds(1)

  /// Asks the database how many there are of an identifier.
  private let ask: @Sendable (TaskIdentifier, FleetSession) throws(FleetError) -> Int

  init(most: Int, ask: @escaping @Sendable (TaskIdentifier, FleetSession) throws(FleetError) -> Int) { (self.most, self.ask) = (most, ask) }

  /// Counts what is about to be added.
  ///
  /// - Parameter counts: How many of each identifier; each at least 1.
  /// - Returns: An identifier of which there would be too many, with how many there are and how many were to be added; nil if everything was
  ///   counted.
  func add(
    _ counts: [TaskIdentifier: Int], _ session: FleetSession
  ) throws(FleetError) -> (identifier: TaskIdentifier, live: Int, added: Int)? {
    for (identifier, count) in counts where needsAnswer(identifier, count) {
      let live = try ask(identifier, session)
      known.withLock { $0[identifier] = Known(count: live, isFull: $0[identifier]?.isFull == true, asked: SystemClock.now) }
    }
    return known.withLock { known in
      for (identifier, count) in counts {
        guard let live = known[identifier]?.live, live + count > most else { continue }
        known[identifier]?.isFull = true
        return (identifier, live, count)
      }
      for (identifier, count) in counts { known[identifier]?.added += count }
      return nil
    }
  }

  /// The identifiers of which additions were refused and would be refused now.
  func full(_ session: FleetSession) throws(FleetError) -> [TaskIdentifier] {
    var full: [TaskIdentifier] = []
    for identifier in known.withLock({ $0.filter(\.value.isFull).keys }) {
      if try ask(identifier, session) >= most { full.append(identifier) } else { known.withLock { $0[identifier]?.isFull = false } }
    }
    return full
  }

  private func needsAnswer(_ identifier: TaskIdentifier, _ count: Int) -> Bool {
    known.withLock { known in
      guard let one = known[identifier] else { return true }
      guard one.live + count <= most else { return SystemClock.now - one.asked >= pause }
      return one.added + count > (most - one.count) / 10
    }
  }
}
