import Synchronization

/// Bounds the bytes of all bodies that are in memory at once, so that many large submissions cannot exhaust the host.
final class BodyBudget: Sendable {
  private let available: Mutex<Int>

  /// That many bytes in all.
  init(bytes: Int) { available = Mutex(bytes) }

  /// Takes `count` bytes of the budget.
  ///
  /// - Returns: Whether there were as many; if not, nothing was taken.
  func take(_ count: Int) -> Bool {
    available.withLock { available in
      guard available >= count else { return false }
      available -= count
      return true
    }
  }

  /// Gives bytes back that were taken.
  func giveBack(_ count: Int) { available.withLock { $0 += count } }
}
