import TaskModel

/// A turn whose commit failed and had no effect. The engine has refused its changes and keeps its outcomes for the next turn.
struct FailedTurn: Error, CustomStringConvertible {
  let error: StoreError
  /// Runs to take back from the launcher: nothing more begins until the store works again.
  let withdrawals: [RunID]

  var description: String { error.description }
}
