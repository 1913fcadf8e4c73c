import GRDB
public import TaskModel

// A listing looks at few requests, whatever there are: where its requests are many, those it wants are soon met from the newest on; where
// they are few, an index has them. How many there are is known, see ``RequestCounts``.

extension SQLiteRequestStore {
  /// On a reading connection.
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
