public import TaskModel

/// What one turn of the scheduler leads to once its commit is durable.
struct Turn {
  /// Runs to begin.
  var orders: [RunOrder] = []
  /// Runs to begin at their time.
  var held: [HeldOrder] = []
  /// Runs to ask to stop.
  var expirations: [(RunID, StopReason)] = []
  /// Answers to who waits.
  var answers: [() -> Void] = []
  /// What observers are told, if there are any.
  var events: [SchedulerEvent] = []
  /// Runs that ended.
  var history: [RunRecord] = []
  /// For undoing what was changed in memory if the commit fails.
  var started: [LiveRunEntry] = []
  var ended: [LiveRunEntry] = []
  var stopped: [RunID] = []
  /// What changed of plugins' standing, in order.
  var standings: [StandingChange] = []
  /// How often a change moved what handlers remember: when something is due, how many requests are live.
  var changes = 0

  /// One change of a plugin's standing.
  struct StandingChange {
    let identifier: TaskIdentifier
    let standing, before: Standing?
    let incidentBefore: UInt64?
  }

  /// How far a turn had come.
  struct Mark {
    fileprivate let expirations, events, stopped, standings, changes: Int
  }

  /// How far the turn has come; what a change appends after it can be dropped.
  var mark: Mark {
    Mark(expirations: expirations.count, events: events.count, stopped: stopped.count, standings: standings.count, changes: changes)
  }

  /// Drops what was appended since `mark`.
  ///
  /// - Returns: The runs that were asked to stop since, the standings that changed since, and whether what handlers remember was changed.
  mutating func takeBack(
    to mark: Mark
  ) -> (stopped: ArraySlice<RunID>, standings: ArraySlice<StandingChange>, changedHandlers: Bool) {
    let dropped = (stopped[mark.stopped...], standings[mark.standings...], changes != mark.changes)
    expirations.removeLast(expirations.count - mark.expirations)
    events.removeLast(events.count - mark.events)
    stopped.removeLast(stopped.count - mark.stopped)
    standings.removeLast(standings.count - mark.standings)
    return dropped
  }
}

/// Something that is durable by now.
public enum SchedulerEvent: Sendable, Hashable {
  /// A request is now as given.
  case request(RequestRecord)
  /// A run started (no outcome) or ended.
  case run(RunRecord)
}
