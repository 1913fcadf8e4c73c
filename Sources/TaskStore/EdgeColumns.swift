import TaskModel

/// The columns of `edges`, in the order in which every connection reads them.
enum EdgeColumns {
  /// Selects the edges of the request given as the statement's parameter.
  static let ofRequest = "SELECT predecessor, on_failure, ended, output FROM edges WHERE request = ? ORDER BY rowid"

  /// Reads the edge in a row of ``ofRequest``.
  static func record(_ row: borrowing PreparedStatement.Columns, origin: UInt64) throws -> DependencyRecord {
    DependencyRecord(
      predecessor: RequestID(sequence: row.integer(0), origin: origin), onFailure: try Dependency.FailurePolicy(stored: row.integer(1)),
      ended: try RequestState.optional(row.optionalInteger(2)), output: row.blob(3))
  }
}
