import TaskModel

/// A request handed out before its run begins. To others it appears pending; any change to it takes it back first.
struct Claim {
  let entry: LiveRunEntry
  /// Its rank among due requests, see ``DueRequest/rank``.
  let rank: Int64
  /// True if the scheduler holds it until its time; false if it is in its launcher's queue, behind short runs.
  let isHeld: Bool
  /// Whether the launcher was asked to return it and has not answered yet.
  var isAskedBack = false
}

/// Thrown by a change to requests that are handed out ahead: the change is made once they are back.
struct ClaimedAhead: Error {
  /// The identifier whose requests must come back; nil means all.
  let identifier: TaskIdentifier?
}
