import FleetStore
import HostThreads
import TaskModel

/// Keeps how many there are of something in the fleet within a limit, for each of many keys.
///
/// The host counts what it adds, and asks the database before it has added a tenth of what may still come. So the fleet's hosts together
/// go little beyond it, and additions ask rarely.
final class RoughCount<Key: Hashable & Sendable>: Sendable {
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
  private let known = Guarded<[Key: Known]>([:])
  /// How long the database is not asked again about a key that is full.
  private let pause = Duration.seconds(1)

  init(most: Int) { self.most = most }

  /// Counts what is about to be added.
  ///
  /// - Parameters:
  ///   - counts: How many of each key; each at least 1.
  ///   - ask: Asks the database how many there are of a key.
  /// - Returns: A key of which there would be too many, with how many there are and how many were to be added; nil if everything was counted.
  func add(
    _ counts: [Key: Int], ask: (Key) throws(FleetError) -> Int
  ) throws(FleetError) -> (key: Key, live: Int, added: Int)? {
    for (key, count) in counts where needsAnswer(key, count) {
      let live = try ask(key)
      known.withLock { $0[key] = Known(count: live, isFull: $0[key]?.isFull == true, asked: SystemClock.now) }
    }
    return known.withLock { known in
      for (key, count) in counts {
        guard let live = known[key]?.live, live + count > most else { continue }
        known[key]?.isFull = true
        return (key, live, count)
      }
      for (key, count) in counts { known[key]?.added += count }
      return nil
    }
  }

  /// The keys of which additions were refused and would be refused now.
  func full(ask: (Key) throws(FleetError) -> Int) throws(FleetError) -> [Key] {
    var full: [Key] = []
    for key in known.withLock({ $0.filter(\.value.isFull).keys }) {
      if try ask(key) >= most { full.append(key) } else { known.withLock { $0[key]?.isFull = false } }
    }
    return full
  }

  private func needsAnswer(_ key: Key, _ count: Int) -> Bool {
    known.withLock { known in
      guard let one = known[key] else { return true }
      guard one.live + count <= most else { return SystemClock.now - one.asked >= pause }
      return one.added + count > (most - one.count) / 10
    }
  }
}
