public import Synchronization

/// A named place in the host at which a test has the process die, to prove that what was acknowledged outlives it.
///
/// None is armed unless the process was started with `TASKHOST_FAILPOINT=NAME` or `NAME:N` in its environment, see ``FailpointTrigger``. They
/// are in release builds too: what is proved is what is shipped, and one that is not armed costs a load and a branch.
public enum Failpoint: String, CaseIterable, Sendable {
  // MARK: Opening

  /// The state directory is locked, the store not opened.
  case directoryLocked = "directory-locked"
  /// The store is open, its schema not looked at.
  case beforeMigration = "before-migration"
  /// A migration is written and not committed; the Nth hit is the Nth migration.
  case migrationWritten = "migration-written"
  /// The schema is today's.
  case afterMigration = "after-migration"
  /// The plugins have registered and the registry is sealed; what the host before left behind is not settled.
  case launchSealed = "launch-sealed"
  /// A run that was lost with the host before is settled, in a transaction that is not committed.
  case lossSettled = "loss-settled"
  /// The requests of the configuration's schedules are as it says, in a transaction that is not committed.
  case scheduleReconciled = "schedule-reconciled"
  /// The first commit of the scheduler is durable; it does not turn yet.
  case booksOpened = "books-opened"

  // MARK: Committing

  /// A request is inserted, in a transaction that is not committed; the Nth of an array is the Nth hit.
  case requestInserted = "request-inserted"
  /// A submission was refused and its savepoint rolled back; others of the same transaction stay.
  case submissionRefused = "submission-refused"
  /// All of a transaction is written, nothing committed.
  case beforeCommit = "before-commit"
  /// A commit is durable, nobody has been told.
  case afterCommit = "after-commit"
  /// The answer to a change that is durable is about to be given.
  case beforeAnswer = "before-answer"
  /// It was given to whoever waits; it may not have left the process.
  case afterAnswer = "after-answer"

  // MARK: Running

  /// Starts are durable, no handler of them has begun.
  case runRecorded = "run-recorded"
  /// The launcher has taken the orders.
  case runOrdered = "run-ordered"
  /// A start is durable ahead of its time, and held until then.
  case runHeld = "run-held"
  /// The time of a run that was held has come, its handler has not begun.
  case heldRunDue = "held-run-due"
  /// A handler has returned; the scheduler does not know.
  case outcomeReceived = "outcome-received"
  /// A success is in its request's row and not in the history yet, in a transaction that is not committed.
  case outcomeWritten = "outcome-written"
  /// Outcomes are durable, nobody has been told.
  case outcomeRecorded = "outcome-recorded"
  /// A request that waited for another is free, in a transaction that is not committed.
  case chainResolved = "chain-resolved"
  /// That a run is to stop is durable; it has not been told.
  case stopRecorded = "stop-recorded"
  /// A value of a plugin's state is durable, its run has not been told.
  case stateSetCommitted = "state-set-committed"
  /// A checkpoint is durable, its run has not been told.
  case checkpointSetCommitted = "checkpoint-set-committed"

  // MARK: What the world says

  /// An event has made its requests due, in a transaction that is not committed.
  case eventRecorded = "event-recorded"
  /// A condition was lost; no run has been asked to stop.
  case conditionLost = "condition-lost"
  /// The wall clock was set; nothing is planned anew.
  case clockChanged = "clock-changed"

  // MARK: Housekeeping and the end

  /// Old runs are removed, their requests not, in a transaction that is not committed.
  case pruning
  /// A checkpoint of the write-ahead log is due.
  case beforeCheckpoint = "before-checkpoint"
  /// It is done.
  case afterCheckpoint = "after-checkpoint"
  /// The host has been asked to drain.
  case drainingBegun = "draining-begun"
  /// Drained; the plugins and the store are not closed.
  case beforeClose = "before-close"
  /// The log is moved into the file, the connections are open.
  case storeSettled = "store-settled"
  /// The store is closed, the process goes on.
  case storeClosed = "store-closed"

  /// Ends the process by SIGKILL when this point is armed and this is the hit that was asked for. From any thread.
  @inlinable @inline(__always) public func hit() {
    guard FailpointTrigger.isArmed.load(ordering: .relaxed) else { return }
    FailpointTrigger.strike(self)
  }
}
