import TaskModel

/// A turn whose commit failed and had no effect; the engine keeps the outcomes for its next turn and has answered the changes.
struct FailedTurn: Error, CustomStringConvertible {
  let error: StoreError
  /// Runs to take back from the launcher: nothing more begins until the store works again.
  let withdrawals: [RunID]

  var description: String { error.description }
}
