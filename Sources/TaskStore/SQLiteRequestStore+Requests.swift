import GRDB
public import TaskModel

// A listing examines few requests, however many exist. If many requests match, a search from the newest soon finds enough; if few match, an
// index has them. ``RequestCounts`` knows how many match.

extension SQLiteRequestStore {
  /// Uses a reading connection.
  public func requests(_ query: RequestQuery) throws(StoreError) -> [RequestRecord] {
    try read { database in
      var number: Int64?
      if let identifier = query.identifier {
        guard let known = try identifiers.existingNumber(of: identifier, in: database) else { return [] }
        number = known
      }
      let listing = try RequestListing(query, identifier: number, database)
      return try listing.rows(database) { try record($0, database) }
    }
  }
}
