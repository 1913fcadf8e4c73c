import NIOCore
import Synchronization

/// The open connections, up to a limit. At the limit, a new connection replaces the one that has kept the host waiting longest. Some places
/// are reserved for root and the host's own user; over TCP, for clients that have shown a valid token.
final class ConnectionTable: Sendable {
  private struct Entry {
    let number: Int
    var isOwn: Bool
    let close: @Sendable () -> Void
    /// nil while the host does not wait for the client; such a connection is never replaced.
    var waitingSince: NIODeadline?
  }

  private struct State {
    var next = 0
    var entries: [Entry] = []
  }

  private let maximum: Int
  private let reserve: Int
  private let state = Mutex(State())

  /// - Parameter reserve: How many of the `maximum` connections other users never get.
  init(maximum: Int, reserve: Int) {
    self.maximum = maximum
    self.reserve = reserve
  }

  var count: Int { state.withLock { $0.entries.count } }

  /// Admits a new connection; at the limit, closes the one that has kept the host waiting longest.
  ///
  /// - Parameters:
  ///   - isOwn: Whether the client is root or the host's own user.
  ///   - close: Closes the connection; called at most once, on any thread.
  /// - Returns: The connection's number; nil if all others are being answered: then this one must be closed.
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

  /// The client turned out to be one for whom places are reserved.
  func promote(_ number: Int) {
    state.withLock { state in
      if let index = Self.index(of: number, in: state.entries) { state.entries[index].isOwn = true }
    }
  }

  /// `waitingSince` is nil while the host does not wait for the client.
  func note(_ number: Int, waitingSince: NIODeadline?) {
    state.withLock { state in
      guard let index = Self.index(of: number, in: state.entries) else { return }
      state.entries[index].waitingSince = waitingSince
    }
  }

  func remove(_ number: Int) {
    state.withLock { state in
      if let index = Self.index(of: number, in: state.entries) { state.entries.remove(at: index) }
    }
  }

  /// A connection of another user replaces only those of other users; one of the host's own user or root replaces any.
  private static func longestWaiting(_ entries: [Entry], isOwn: Bool) -> Int? {
    entries.indices.filter { entries[$0].waitingSince != nil && (isOwn || !entries[$0].isOwn) }
      .min { (entries[$0].waitingSince ?? .distantFuture) < (entries[$1].waitingSince ?? .distantFuture) }
  }

  /// Numbers only grow, so the entries are sorted.
  private static func index(of number: Int, in entries: [Entry]) -> Int? { entries.index(of: number, by: \.number) }
}
