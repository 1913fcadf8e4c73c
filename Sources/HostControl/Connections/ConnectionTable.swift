import NIOCore
import Synchronization

/// The open connections, up to a limit. At the limit, a new connection replaces the one that has kept the host waiting longest. Some places
/// are reserved for root and the host's own user.
final class ConnectionTable: Sendable {
  private struct Entry {
    let number: Int
    let isOwn: Bool
    let close: @Sendable () -> Void
    /// Since when the host waits for the client; nil: it does not, and the connection is not closed for another.
    var waitingSince: NIODeadline?
  }

  private struct State {
    var next = 0
    var entries: [Entry] = []
  }

  private let maximum: Int
  private let reserve: Int
  private let state = Mutex(State())

  /// - Parameters:
  ///   - maximum: Connections at once.
  ///   - reserve: How many of them other users never get.
  init(maximum: Int, reserve: Int) {
    self.maximum = maximum
    self.reserve = reserve
  }

  /// How many are open.
  var count: Int { state.withLock { $0.entries.count } }

  /// Admits a new connection; at the limit, the one that has kept the host waiting longest is closed.
  ///
  /// - Parameters:
  ///   - isOwn: Whether it is the host's own user's, or root's.
  ///   - close: Closes it; called at most once, on any thread.
  /// - Returns: Its number; nil: every other is being answered, and this one must be closed.
  func admit(isOwn: Bool, waitingSince: NIODeadline, close: @escaping @Sendable () -> Void) -> Int? {
    let (number, evicted) = state.withLock { state -> (Int?, Entry?) in
      let others = state.entries.count { !$0.isOwn }
      var evicted: Entry?
      if state.entries.count >= maximum || !isOwn && others >= maximum - reserve {
        guard let index = Self.longestWaiting(state.entries, isOwn: isOwn) else { return (nil, nil) }
        evicted = state.entries.remove(at: index)
      }
      state.next += 1
      state.entries.append(Entry(number: state.next, isOwn: isOwn, close: close, waitingSince: waitingSince))
      return (state.next, evicted)
    }
    evicted?.close()
    return number
  }

  /// Since when the host waits for the client of connection `number`; nil: it does not.
  func note(_ number: Int, waitingSince: NIODeadline?) {
    state.withLock { state in
      guard let index = Self.index(of: number, in: state.entries) else { return }
      state.entries[index].waitingSince = waitingSince
    }
  }

  /// Connection `number` is closed.
  func remove(_ number: Int) {
    state.withLock { state in
      if let index = Self.index(of: number, in: state.entries) { state.entries.remove(at: index) }
    }
  }

  /// A connection of another user can replace only those of other users; one of the host's own user can replace any.
  private static func longestWaiting(_ entries: [Entry], isOwn: Bool) -> Int? {
    entries.indices.filter { entries[$0].waitingSince != nil && (isOwn || !entries[$0].isOwn) }
      .min { (entries[$0].waitingSince ?? .distantFuture) < (entries[$1].waitingSince ?? .distantFuture) }
  }

  /// Numbers only grow, so the entries are in their order.
  private static func index(of number: Int, in entries: [Entry]) -> Int? {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].number < number { low = middle + 1 } else { high = middle }
    }
    return low < entries.count && entries[low].number == number ? low : nil
  }
}
