package import TaskModel
package import TaskStore

/// Requests of a store on their way into the fleet.
package struct FleetImport: Sendable {
  /// A request as it was in the store, and its id there; its own id and those that it names are of the fleet.
  package struct Request: Sendable {
    package var origin: RequestID
    package var archived: ArchivedRequest

    package init(_ archived: ArchivedRequest, from origin: RequestID) { (self.archived, self.origin) = (archived, origin) }

    fileprivate var valueBytes: Int {
      archived.record.request.payload.count + (archived.eventPayload?.count ?? 0) + (archived.checkpoint?.count ?? 0)
    }
  }

  package var requests: [Request] = []
  /// What idempotency keys stand for, with ids of the fleet.
  package var keys: [ArchivedRequests.Key] = []
  /// Unique keys that are held, with ids of the fleet.
  package var windows: [ArchivedRequests.Window] = []

  package init() {}
}

extension FleetSession {
  /// What of a store's requests the fleet has, or had; only those that wait there still, or run, if `isLive`.
  package func imported(from store: UInt64, isLive: Bool = false) throws(FleetError) -> [RequestID: RequestID] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT i.sequence, i.request FROM taskhost.imported i WHERE i.store = $1
        \(isLive ? "AND EXISTS (SELECT FROM taskhost.request r WHERE r.id = i.request AND r.state <> 'failed')" : "")
        """, .int(Int64(bitPattern: store))))
    var known: [RequestID: RequestID] = [:]
    for row in 0..<rows.count {
      guard let sequence = rows.int(row, 0), let request = rows.int(row, 1) else { continue }
      known[RequestID(sequence: sequence, origin: store)] = RequestID(sequence: request, origin: origin)
    }
    return known
  }

  /// Adds requests of a store, all or none: nobody sees any of them before the end.
  ///
  /// - Parameter done: Told how many have been sent.
  /// - Returns: How many idempotency keys and held unique keys the fleet did not have.
  package func bringIn(_ arrivals: FleetImport, _ done: (Int) -> Void) throws(FleetError) -> (keys: Int64, windows: Int64) {
    guard let store = arrivals.requests.first?.origin.origin else { return (0, 0) }
    // Lanes stay if the rest fails, which harms nothing: so no submission of a host waits for the end.
    var lanes: [Lane: Int64] = [:]
    for request in arrivals.requests where lanes[request.archived.record.lane] == nil {
      lanes[request.archived.record.lane] = try lane(request.archived.record.lane)
    }
    _ = try ask(PostgresStatement("BEGIN"))
    do throws(FleetError) {
      for places in Self.parts(of: arrivals.requests.count, bytes: { arrivals.requests[$0].valueBytes }) {
        let part = arrivals.requests[places]
        let repeating = Self.noteRepeating(part.lazy.map { ($0.archived.record, []) })
        _ = try ask([Self.bringIn(part, from: store, lanes)] + [repeating].compactMap(\.self))
        done(places.upperBound)
      }
      let edges = arrivals.requests.filter { !$0.archived.edges.isEmpty }.map { ($0.archived.record.id, $0.archived.edges) }
      for places in Self.parts(of: edges.count, bytes: { edges[$0].1.reduce(0) { $0 + $1.output.count } }) {
        if let statement = Self.follow(Array(edges[places])) { _ = try ask(statement) }
      }
      let added = try ask(
        PostgresStatement(
          "SELECT known, held FROM taskhost.bring_in_keys($1, $2, $3, $4, $5, $6, $7, $8)", .texts(arrivals.keys.map(\.key)),
          .ints(arrivals.keys.map { Int64(bitPattern: $0.fingerprint) }), .ints(arrivals.keys.map(\.request.sequence)),
          .ints(arrivals.keys.map(\.submitted.unixMilliseconds)), .texts(arrivals.windows.map(\.identifier.rawValue)),
          .texts(arrivals.windows.map(\.key)), .ints(arrivals.windows.map(\.request.sequence)),
          .ints(arrivals.windows.map(\.until.unixMilliseconds))))
      // With the key of one of them, somebody may have submitted the same meanwhile.
      let own = arrivals.requests.compactMap { request in
        let record = request.archived.record
        return record.state.isFinal && record.state != .failed ? nil : record.request.idempotencyKey.map { ($0, record.id) }
      }
      let known = try known(own.map(\.0))
      guard own.allSatisfy({ key, id in known[key].map { $0.request == id } ?? true }) else { throw .changed }
      _ = try ask(PostgresStatement("COMMIT"))
      return (added.int(0, 0) ?? 0, added.int(0, 1) ?? 0)
    } catch {
      // If even this fails, the connection is dead, and the server undoes everything, unless the answer to the COMMIT was lost.
      _ = try? ask(PostgresStatement("ROLLBACK"))
      throw error
    }
  }

  private static func bringIn(_ requests: ArraySlice<FleetImport.Request>, from store: UInt64, _ lanes: [Lane: Int64]) -> PostgresStatement
  {
    let records = requests.map(\.archived.record)
    return PostgresStatement(
      "SELECT taskhost.bring_in($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)", .int(Int64(bitPattern: store)),
      .ints(requests.map(\.origin.sequence)), .ints(records.map(\.id.sequence)), .texts(records.map(\.request.identifier.rawValue)),
      .texts(records.map(\.state.shown.rawValue)), .ints(records.map { lanes[$0.lane] ?? 0 }), .ints(records.map(\.due.unixMilliseconds)),
      .ints(records.map { rank(of: $0) }), .texts(records.map(\.request.uniqueKey)), .texts(records.map(\.request.event?.name)),
      .ints(records.map { deadline(of: $0) }), .blobs(records.map(\.request.payload)), .blobs(requests.map(\.archived.eventPayload)),
      .blobs(requests.map(\.archived.checkpoint)), .texts(records.map { RecordText.text(of: $0) }))
  }
}
