public import TaskModel

/// The predecessor because of which a dead letter cannot be retried by itself: it had to succeed first, and did not. The one rule for what
/// ``Scheduler`` refuses to retry and for the remedy that `why` names.
public struct RetryObstacle: Sendable, Hashable {
  /// The predecessor. If it failed because of another one, and so on, the first of them that has to be retried.
  public let predecessor: RequestID
  /// How the predecessor ended.
  public let ended: RequestState
  /// Whether the predecessor is still on record.
  public let isOnRecord: Bool

  /// The command that makes the predecessor live again, and the dead letter with it; nil if nothing does.
  var command: String? { isOnRecord && ended == .failed ? Self.command(for: predecessor) : nil }

  /// The command that retries a request.
  static func command(for id: RequestID) -> String { "taskhost tasks retry \(id)" }

  /// The maximum number of requests to look at: in a longer chain, the obstacle is one that has an obstacle itself.
  private static let reach = 100

  /// Looks for the obstacle to the retry of a dead letter; nil if there is none. Predecessors count as they are now: one that was retried
  /// meanwhile is not an obstacle.
  ///
  /// - Parameters:
  ///   - edges: Reads the edges of a request.
  ///   - request: Reads a request; nil if it is no longer on record.
  public static func find<Failure: Error>(
    for record: RequestRecord, edges: (RequestID) throws(Failure) -> [DependencyRecord],
    request: (RequestID) throws(Failure) -> RequestRecord?
  ) throws(Failure) -> RetryObstacle? {
    var obstacle: RetryObstacle?
    var next: RequestRecord? = record
    var looked = 0
    // A request that has run failed by itself.
    while looked < reach, let dependant = next, dependant.state == .failed, dependant.lastOutcome == nil {
      looked += 1
      next = nil
      for var edge in try edges(dependant.id) {
        let predecessor = try request(edge.predecessor)
        edge.look(at: predecessor?.state)
        guard edge.isBroken, let ended = edge.ended else { continue }
        obstacle = RetryObstacle(predecessor: edge.predecessor, ended: ended, isOnRecord: predecessor != nil)
        next = predecessor
        break
      }
    }
    return obstacle
  }
}

extension DependencyRecord {
  /// Whether the dependant can no longer run: a required predecessor did not succeed.
  package var isBroken: Bool { onFailure == .fail && ended != nil && ended != .succeeded }

  /// Takes the present state of the predecessor, which may have been retried. Nil means that it is no longer on record: the edge remembers
  /// how it ended.
  mutating func look(at state: RequestState?) {
    let state = state ?? ended ?? .cancelled
    ended = state.isFinal ? state : nil
  }
}
