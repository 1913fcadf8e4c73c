public import Synchronization

/// A named place in the host at which a test kills the process, to prove that acknowledged changes survive.
///
/// No point is armed unless the process was started with `TASKHOST_FAILPOINT=NAME` or `NAME:N` in its environment, see
/// ``FailpointTrigger``. Release builds contain the points too, so that tests prove the shipped code; an unarmed point costs a load and a
/// branch.
public enum Failpoint: String, CaseIterable, Sendable {
  // MARK: Opening

  /// The state directory is locked; the store is not open yet.
  case directoryLocked = "directory-locked"
  /// The store is open; its schema has not been checked.
  case beforeMigration = "before-migration"
  /// A migration is written but not committed; the Nth hit is the Nth migration.
  case migrationWritten = "migration-written"
  /// The schema is current.
  case afterMigration = "after-migration"
  /// The plugins have registered and the registry is sealed; the previous host process's runs are not settled yet.
  case launchSealed = "launch-sealed"
  /// A run lost with the previous host process is settled, in an uncommitted transaction.
  case lossSettled = "loss-settled"
  /// The requests of the configuration's schedules match the configuration, in an uncommitted transaction.
  case scheduleReconciled = "schedule-reconciled"
  /// The scheduler's first commit is durable; its thread has not started.
  case booksOpened = "books-opened"

  // MARK: Committing

  /// A request is inserted, in an uncommitted transaction; the Nth hit is the Nth request of an array.
  case requestInserted = "request-inserted"
  /// A submission was refused and its savepoint rolled back; other changes of the same transaction stay.
  case submissionRefused = "submission-refused"
  /// A transaction is completely written but not committed.
  case beforeCommit = "before-commit"
  /// A commit is durable; nobody has been told.
  case afterCommit = "after-commit"
  /// A durable change is about to be answered.
  case beforeAnswer = "before-answer"
  /// The answer was given to the waiting caller; it may not have left the process.
  case afterAnswer = "after-answer"

  // MARK: Running

  /// Starts are durable; none of their handlers has begun.
  case runRecorded = "run-recorded"
  /// The launcher has accepted the orders.
  case runOrdered = "run-ordered"
  /// A start is durable ahead of its time and is held until then.
  case runHeld = "run-held"
  /// A held run is due; its handler has not begun.
  case heldRunDue = "held-run-due"
  /// A handler has returned; the scheduler does not know yet.
  case outcomeReceived = "outcome-received"
  /// A success is in its request's row but not in the history yet, in an uncommitted transaction.
  case outcomeWritten = "outcome-written"
  /// Outcomes are durable; nobody has been told.
  case outcomeRecorded = "outcome-recorded"
  /// A blocked request has become pending, in an uncommitted transaction.
  case chainResolved = "chain-resolved"
  /// A request to stop a run is durable; the run has not been told.
  case stopRecorded = "stop-recorded"
  /// A value of a plugin's state is durable; its run has not been told.
  case stateSetCommitted = "state-set-committed"
  /// A checkpoint is durable; its run has not been told.
  case checkpointSetCommitted = "checkpoint-set-committed"

  // MARK: Events and the machine

  /// An event has made its requests due, in an uncommitted transaction.
  case eventRecorded = "event-recorded"
  /// A condition was lost; no run has been asked to stop.
  case conditionLost = "condition-lost"
  /// The wall clock was set; no times have been recomputed.
  case clockChanged = "clock-changed"

  // MARK: Housekeeping and the end

  /// Old runs are removed but not their requests, in an uncommitted transaction.
  case pruning
  /// Values have another form, in an uncommitted transaction.
  case valuesRewritten = "values-rewritten"
  /// It is durable that all values have the form in which they are written.
  case valuesWhole = "values-whole"
  /// A checkpoint of the write-ahead log is due.
  case beforeCheckpoint = "before-checkpoint"
  /// The checkpoint is done.
  case afterCheckpoint = "after-checkpoint"
  /// The host has been asked to drain.
  case drainingBegun = "draining-begun"
  /// The host is drained; the plugins and the store are not closed.
  case beforeClose = "before-close"
  /// The write-ahead log is moved into the database file; the connections are still open.
  case storeSettled = "store-settled"
  /// The store is closed; the process still runs.
  case storeClosed = "store-closed"

  /// Kills the process with SIGKILL if this point is armed and this is the requested hit. Callable from any thread.
  @inlinable @inline(__always) public func hit() {
    guard FailpointTrigger.isArmed.load(ordering: .relaxed) else { return }
    FailpointTrigger.strike(self)
  }
}
