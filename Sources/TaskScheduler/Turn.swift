public import TaskModel

/// What one turn of the scheduler leads to once its commit is durable.
struct Turn {
  /// Runs to begin.
  var orders: [RunOrder] = []
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
}

/// Something that is durable by now.
public enum SchedulerEvent: Sendable, Hashable {
  /// A request is now as given.
  case request(RequestRecord)
  /// A run started (no outcome) or ended.
  case run(RunRecord)
}
