import TaskModel

/// A request that is handed out ahead of its run's begin: it is pending to everybody, and is taken back by whatever concerns it.
struct Claim {
  /// The run it is to become.
  let entry: LiveRunEntry
  /// Its place among what is due, see ``DueRequest/rank``.
  let rank: Int64
  /// Whether the scheduler has it until its time comes; no: it is in its launcher's queue, behind runs that are short.
  let isHeld: Bool
  /// Whether the launcher has been asked for it and has not answered.
  var isAskedBack = false
}

/// A change is about requests that are handed out ahead: they are taken back first, and then it is made.
struct ClaimedAhead: Error {
  /// Of these; nil: of all.
  let identifier: TaskIdentifier?
}
