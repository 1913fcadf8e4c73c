import TaskModel

/// The columns of `edges` in the order that reading on every connection shares.
enum EdgeColumns {
  /// Selects what a request, the statement's parameter, waits or waited for.
  static let ofRequest = "SELECT predecessor, on_failure, ended, output FROM edges WHERE request = ? ORDER BY rowid"

  /// The edge of a row that ``ofRequest`` gives.
  static func record(_ row: borrowing PreparedStatement.Columns, origin: UInt64) throws -> DependencyRecord {
    DependencyRecord(
      predecessor: RequestID(sequence: row.integer(0), origin: origin), onFailure: try Dependency.FailurePolicy(stored: row.integer(1)),
      ended: try RequestState.optional(row.optionalInteger(2)), output: row.blob(3))
  }
}
