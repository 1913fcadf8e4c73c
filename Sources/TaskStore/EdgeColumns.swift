import TaskModel

/// The columns of `edges`, in the order in which every connection reads them.
enum EdgeColumns {
  /// Selects the edges of the request given as the statement's parameter.
  static let ofRequest = "SELECT predecessor, on_failure, ended, output, sealed FROM edges WHERE request = ? ORDER BY rowid"

  /// Reads the edge of `request` in a row of ``ofRequest``.
  static func record(
    _ row: borrowing PreparedStatement.Columns, of request: Int64, origin: UInt64, _ seals: ValueSeals
  ) throws -> DependencyRecord {
    let predecessor = row.integer(0)
    return DependencyRecord(
      predecessor: RequestID(sequence: predecessor, origin: origin), onFailure: try Dependency.FailurePolicy(stored: row.integer(1)),
      ended: try RequestState.optional(row.optionalInteger(2)),
      output: try seals.bytes(row, at: 3, sealed: 4, SealedPlace(.dependency, .integer(request), .integer(predecessor))))
  }
}
