import GRDB
import TaskModel

/// One listing of requests: its query, and where it searches.
struct RequestListing {
  /// The source of the candidates' ids.
  private enum Source {
    /// All requests or those with a tag. With a number, only that many of the newest.
    case newest(Int?)
    /// An index of the requests that match the states and the identifier.
    case index
    /// The index of the requests that wait for events.
    case events
    /// The pending requests by lane and priority, plus the other live requests.
    case dueTimes
  }

  private let query: RequestQuery
  private let identifier: Int64?
  /// The requested states that have requests.
  private let states: [RequestState]
  /// The number of the identifier's requests in these states, and the number of all requests.
  private let matching, total: Int

  /// Reads the counters.
  ///
  /// - Parameter identifier: The number of the query's identifier; nil if it has none.
  init(_ query: RequestQuery, identifier: Int64?, _ database: Database) throws {
    self.query = query
    self.identifier = identifier
    var counts = try RequestCounts.stored(database)
    total = counts.values.reduce(0, +)
    if identifier != nil { counts = try RequestCounts.stored(database, identifier: identifier) }
    if !query.states.isEmpty { counts = counts.filter { query.states.contains($0.key) } }
    if query.waitsForEvent { counts = counts.filter { !$0.key.isFinal } }
    states = counts.keys.sorted { $0.stored < $1.stored }
    matching = counts.values.reduce(0, +)
  }

  /// The number of newest requests to examine before trying an index.
  private static let window = 1000

  /// The rows of the listing, in order.
  func rows<Element>(_ database: Database, read: (borrowing PreparedStatement.Columns) throws -> Element) throws -> [Element] {
    guard matching > 0 else { return [] }
    func rows(_ source: Source) throws -> [Element] {
      let sql = sql(source)
      return try PreparedStatement(database, sql).rows(values(in: sql), read: read)
    }
    if query.waitsForEvent { return try rows(.events) }
    if query.dueBy != nil { return try rows(try fewLanes(database) ? .dueTimes : .newest(nil)) }
    let limit = max(1, query.limit)
    let walked = try query.tag.map { try tagged($0, database, upTo: matching * 2) } ?? total
    // After a cursor, the newest requests do not help.
    if query.after != nil { return try rows(query.tag == nil && matching <= total / 2 ? .index : .newest(nil)) }
    let window = max(Self.window, min(limit, total) * 4)
    guard walked > window else { return try rows(.newest(nil)) }
    if matching > Self.window {
      let found = try rows(.newest(window))
      if found.count >= limit { return found }
    }
    // In the worst case, all other requests are newer.
    let others = query.tag == nil ? walked - matching : walked
    return try rows(matching <= others ? .index : .newest(nil))
  }

  /// The number of requests with a tag, counted up to `limit`.
  private func tagged(_ tag: String, _ database: Database, upTo limit: Int) throws -> Int {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM request_tags WHERE tag = ? LIMIT ?)"
    return try PreparedStatement(database, sql).rows(.text(tag), .integer(Int64(limit))) { Int($0.integer(0)) }.first ?? 0
  }

  /// Whether searching each lane and priority costs less than examining each request.
  private func fewLanes(_ database: Database) throws -> Bool {
    let most = min(4096, total / 100)
    let sql = "SELECT count(*) FROM (SELECT 1 FROM lanes LIMIT ?)"
    return try PreparedStatement(database, sql).rows(.integer(Int64(most + 1))) { Int($0.integer(0)) <= most }.first ?? false
  }

  // MARK: SQL

  /// The values of the parameters in `sql`: 1 is the limit, 2 the identifier, 3 the tag, 4 the time, 5 the cursor. Stops at the last one
  /// that `sql` uses.
  private func values(in sql: String) -> [PreparedStatement.Value] {
    let all: [PreparedStatement.Value] = [
      .integer(Int64(max(1, query.limit))), .integer(identifier), .text(query.tag), .integer(query.dueBy?.unixMilliseconds),
      .integer(query.after?.sequence),
    ]
    return Array(all.prefix((1...all.count).last { sql.contains("?\($0)") } ?? 0))
  }

  private func sql(_ source: Source) -> String {
    let order = query.dueBy == nil ? "id DESC" : "due_ms, id"
    var conditions = query.states.isEmpty ? ["1"] : ["state IN (\(states.map { String($0.stored) }.joined(separator: ", ")))"]
    if identifier != nil { conditions.append("identifier = ?2") }
    if query.waitsForEvent { conditions.append("event IS NOT NULL AND state < 50") }
    if query.dueBy != nil { conditions.append("due_ms <= ?4") }
    if query.after != nil { conditions.append("id < ?5") }
    let hasTag = "EXISTS (SELECT 1 FROM request_tags WHERE tag = ?3 AND request = id)"
    func select(_ table: String, _ conditions: [String], _ order: String) -> String {
      "SELECT \(RequestColumns.list) FROM \(table) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(order) LIMIT ?1"
    }
    switch source {
    case .newest(let window) where query.tag != nil && query.dueBy == nil:
      let ids = "SELECT request FROM request_tags WHERE tag = ?3 ORDER BY request DESC LIMIT \(window ?? -1)"
      return select("(\(ids)) CROSS JOIN requests ON id = request", conditions, "request DESC")
    case .newest(let window):
      if let window { conditions.append("id > (SELECT id FROM requests ORDER BY id DESC LIMIT 1 OFFSET \(window))") }
      // Forces the order of ids, whatever else the planner would choose.
      return select("requests NOT INDEXED", conditions + (query.tag == nil ? [] : [hasTag]), order)
    case .index:
      var ids = "SELECT id FROM (\(states.map(indexed).joined(separator: " UNION ALL ")))"
      let narrowed: [String] = (query.tag == nil ? [] : [hasTag]) + (query.after == nil ? [] : ["id < ?5"])
      if !narrowed.isEmpty { ids += " WHERE \(narrowed.joined(separator: " AND "))" }
      return select("(\(ids) ORDER BY id DESC LIMIT ?1) AS found CROSS JOIN requests USING (id)", ["1"], "id DESC")
    case .events:
      return select("requests INDEXED BY requests_event", conditions + (query.tag == nil ? [] : [hasTag]), order)
    case .dueTimes:
      let ids = states.map { $0 == .pending ? Self.pendingByTime : indexed($0) }.joined(separator: " UNION ALL ")
      return select("(\(ids)) AS found CROSS JOIN requests USING (id)", conditions + (query.tag == nil ? [] : [hasTag]), order)
    }
  }

  /// Selects the ids of the identifier's requests in a state from a covering index.
  private func indexed(_ state: RequestState) -> String { Self.indexed(state, of: identifier == nil ? nil : "?2") }

  /// Selects the ids of the requests in a state from a covering index.
  ///
  /// - Parameter identifiers: The numbers of their identifiers as a list in SQL; nil: all.
  static func indexed(_ state: RequestState, of identifiers: String?) -> String {
    let owned = identifiers.map { " AND identifier IN (\($0))" } ?? ""
    let lanes = identifiers.map { " AND lane IN (SELECT id FROM lanes WHERE identifier IN (\($0)))" } ?? ""
    return switch state {
    case .blocked: "SELECT id FROM requests INDEXED BY requests_blocked WHERE state = 10\(owned)"
    case .pending: "SELECT id FROM requests INDEXED BY requests_pending WHERE state = 20\(lanes)"
    case .claimed: "SELECT id FROM requests INDEXED BY requests_claimed WHERE state = 30\(owned)"
    case .running: "SELECT id FROM requests INDEXED BY requests_running WHERE state = 40\(owned)"
    case .succeeded, .failed, .cancelled:
      "SELECT id FROM requests INDEXED BY requests_ended WHERE state >= 50 AND state = \(state.stored)\(owned)"
    }
  }

  /// Selects the ids of the pending requests that are due by a time.
  private static let pendingByTime: String = {
    let priorities = Limits.priorities.map { String($0) }.joined(separator: ", ")
    return """
      SELECT id FROM requests INDEXED BY requests_pending
      WHERE state = 20 AND lane IN (SELECT id FROM lanes) AND priority IN (\(priorities)) AND due_ms <= ?4
      """
  }()
}
