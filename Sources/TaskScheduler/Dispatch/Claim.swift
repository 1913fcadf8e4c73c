import TaskModel

/// A request handed out before its run begins. Others see it as pending, and any change to it takes it back.
struct Claim {
  let entry: LiveRunEntry
  /// Its place among due requests, see ``DueRequest/rank``.
  let rank: Int64
  /// True: the scheduler holds it until its time. False: it is in its launcher's queue, behind short runs.
  let isHeld: Bool
  /// Whether the launcher was asked to return it and has not answered.
  var isAskedBack = false
}

/// A change needs requests that are handed out ahead: they are taken back first, then the change is made.
struct ClaimedAhead: Error {
  /// Whose requests; nil means all.
  let identifier: TaskIdentifier?
}
