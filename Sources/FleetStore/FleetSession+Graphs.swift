package import TaskModel
import TaskStore

// Requests that wait for others, and the holders of unique keys.

extension FleetSession {
  /// The edges of requests that the host has taken, in order. What ends from now on is noted anew, see ``FleetExchange/undecided``.
  ///
  /// They have the outputs of the predecessors that have succeeded, from whichever host, but not those of requests that wait for another one
  /// besides.
  ///
  /// - Parameter visiting: What the host has taken with them, and may end at once; nil asks for all outputs.
  package func takeEdges(
    _ incarnation: String, of ids: [RequestID], with visiting: [RequestID]?
  ) throws(FleetError) -> [RequestID: [DependencyRecord]] {
    try edges(
      PostgresStatement(
        "SELECT request, predecessor, on_failure, ended, output FROM taskhost.edges_of($1::uuid, $2, $3::bigint[])", .text(incarnation),
        .ints(ids.map(\.sequence)), visiting.map { .ints($0.map(\.sequence)) } ?? .text(nil)))
  }

  /// The edges of requests, in order.
  package func edges(of ids: [RequestID]) throws(FleetError) -> [RequestID: [DependencyRecord]] {
    try edges(
      PostgresStatement(
        "SELECT request, predecessor, on_failure, ended, output FROM taskhost.edge WHERE request = ANY ($1) ORDER BY request, place",
        .ints(ids.map(\.sequence))))
  }

  private func edges(_ statement: PostgresStatement) throws(FleetError) -> [RequestID: [DependencyRecord]] {
    let rows = try ask(statement)
    var edges: [RequestID: [DependencyRecord]] = [:]
    var unread: Set<RequestID> = []
    for row in 0..<rows.count {
      guard let request = rows.int(row, 0), let predecessor = rows.int(row, 1),
        let onFailure = rows.text(row, 2).flatMap(Dependency.FailurePolicy.init)
      else { continue }
      let edge = DependencyRecord(
        predecessor: RequestID(sequence: predecessor, origin: origin), onFailure: onFailure,
        ended: rows.text(row, 3).flatMap(RequestState.init), output: rows.bytes(row, 4) ?? [])
      if edge.ended == .succeeded, rows.bytes(row, 4) == nil { unread.insert(edge.predecessor) }
      edges[RequestID(sequence: request, origin: origin), default: []].append(edge)
    }
    guard !unread.isEmpty else { return edges }
    let outputs = try outputs(of: Array(unread))
    for (id, list) in edges {
      edges[id] = list.map { edge in
        var edge = edge
        if unread.contains(edge.predecessor) { edge.output = outputs[edge.predecessor] ?? [] }
        return edge
      }
    }
    return edges
  }

  /// The outputs of the last runs of requests, as long as these are on record.
  package func outputs(of ids: [RequestID]) throws(FleetError) -> [RequestID: [UInt8]] {
    guard !ids.isEmpty else { return [:] }
    let found = try ask(
      PostgresStatement(
        """
        SELECT DISTINCT ON (request) id, octet_length(record) FROM taskhost.run WHERE request = ANY ($1)
        ORDER BY request, ended DESC, id DESC
        """, .ints(ids.map(\.sequence))))
    var outputs: [RequestID: [UInt8]] = [:]
    // The logs beside the outputs may be far longer.
    for part in Self.parts(of: found.count, bytes: { Int(clamping: found.int($0, 1) ?? 0) }) where !part.isEmpty {
      let rows = try ask(PostgresStatement("SELECT record FROM taskhost.run WHERE id = ANY ($1)", .texts(part.map { found.text($0, 0) })))
      for row in 0..<rows.count {
        if let run = rows.bytes(row, 0).flatMap({ try? RecordText.run($0) }) { outputs[run.request] = run.report.output }
      }
    }
    return outputs
  }

  /// These requests, those that failed because of them, those that failed because of these, and so on.
  package func failed(becauseOf ids: [RequestID]) throws(FleetError) -> [RequestID] {
    self.ids(try ask(PostgresStatement("SELECT request FROM taskhost.failed_because($1)", .ints(ids.map(\.sequence)))))
  }

  /// The blocked requests that were appended to these under a unique key, those that were appended to them, and so on; none if there are more
  /// than `most`.
  package func followers(of ids: [RequestID], besides others: [RequestID], most: Int) throws(FleetError) -> [RequestID] {
    let found = self.ids(
      try ask(
        PostgresStatement(
          """
          WITH RECURSIVE down AS (
            SELECT u.id FROM unnest($1) AS u (id)
            UNION SELECT r.id FROM down d JOIN taskhost.edge e ON e.predecessor = d.id AND e.ended IS NULL AND e.on_failure = 'fail'
              JOIN taskhost.request r ON r.id = e.request AND r.state = 'blocked' AND strpos(r.record, '"on_conflict":"') > 0
          ) SELECT d.id FROM down d WHERE d.id <> ALL ($2) LIMIT $3
          """, .ints(ids.map(\.sequence)), .ints(others.map(\.sequence)), .int(Int64(most) + 1))))
    return found.count > most ? [] : found
  }

  /// The predecessors of these requests, and of a failed one its own, and so on.
  package func leading(to ids: [RequestID]) throws(FleetError) -> [RequestID] {
    self.ids(try ask(PostgresStatement("SELECT request FROM taskhost.leading_to($1)", .ints(ids.map(\.sequence)))))
  }

  /// Requests as they are in the database, without payloads: one that a host runs is pending. Those that cannot be read are left out.
  package func seen(_ ids: [RequestID]) throws(FleetError) -> [RequestRecord] {
    guard !ids.isEmpty else { return [] }
    return records(
      try ask(
        PostgresStatement(
          """
          SELECT id, ''::bytea, record, false FROM taskhost.request WHERE id = ANY ($1)
          UNION ALL SELECT id, ''::bytea, record, false FROM taskhost.ended WHERE id = ANY ($1) ORDER BY 1
          """, .ints(ids.map(\.sequence)))))
  }

  // MARK: Keys

  /// The live requests that hold unique keys.
  package func holders(of keys: [(identifier: TaskIdentifier, key: String)]) throws(FleetError) -> [UniqueKeyHolder] {
    guard !keys.isEmpty else { return [] }
    let rows = try ask(
      PostgresStatement(
        """
        SELECT r.id, r.identifier, r.unique_key, r.stop, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = r.id)
        FROM taskhost.request r
        WHERE (r.identifier, r.unique_key) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND r.state <> 'failed'
        """, .texts(keys.map(\.identifier.rawValue)), .texts(keys.map(\.key))))
    return (0..<rows.count).compactMap { row in
      guard let sequence = rows.int(row, 0), let identifier = rows.text(row, 1).flatMap({ try? TaskIdentifier($0) }),
        let key = rows.text(row, 2)
      else { return nil }
      return UniqueKeyHolder(
        id: RequestID(sequence: sequence, origin: origin), identifier: identifier, key: key, isStopping: rows.flag(row, 3),
        isOwned: rows.flag(row, 4))
    }
  }

  /// The unique keys that these requests hold: their texts may name a key that was given to another one since.
  package func keys(of ids: [RequestID]) throws(FleetError) -> [RequestID: String] {
    guard !ids.isEmpty else { return [:] }
    let rows = try ask(
      PostgresStatement(
        "SELECT id, unique_key FROM taskhost.request WHERE id = ANY ($1) AND unique_key IS NOT NULL", .ints(ids.map(\.sequence))))
    var keys: [RequestID: String] = [:]
    for row in 0..<rows.count {
      if let sequence = rows.int(row, 0) { keys[RequestID(sequence: sequence, origin: origin)] = rows.text(row, 1) }
    }
    return keys
  }

  /// For whom unique keys are held until a time that has not come.
  package func windows(
    of keys: [(identifier: TaskIdentifier, key: String)]
  ) throws(FleetError) -> [(identifier: TaskIdentifier, key: String, request: RequestID)] {
    guard !keys.isEmpty else { return [] }
    let rows = try ask(
      PostgresStatement(
        """
        SELECT identifier, key, request FROM taskhost.unique_window
        WHERE (identifier, key) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND until > taskhost.now_ms()
        """, .texts(keys.map(\.identifier.rawValue)), .texts(keys.map(\.key))))
    return (0..<rows.count).compactMap { row in
      guard let identifier = rows.text(row, 0).flatMap({ try? TaskIdentifier($0) }), let key = rows.text(row, 1),
        let sequence = rows.int(row, 2)
      else { return nil }
      return (identifier, key, RequestID(sequence: sequence, origin: origin))
    }
  }

  /// What idempotency keys stand for.
  package func known(_ keys: [String]) throws(FleetError) -> [String: KnownSubmission] {
    guard !keys.isEmpty else { return [:] }
    let rows = try ask(
      PostgresStatement("SELECT key, fingerprint, request, since FROM taskhost.idempotency WHERE key = ANY ($1)", .texts(keys)))
    var known: [String: KnownSubmission] = [:]
    for row in 0..<rows.count {
      guard let key = rows.text(row, 0), let fingerprint = rows.int(row, 1), let sequence = rows.int(row, 2) else { continue }
      known[key] = KnownSubmission(
        fingerprint: UInt64(bitPattern: fingerprint), request: RequestID(sequence: sequence, origin: origin), disposition: .created,
        submitted: WallTime(unixMilliseconds: rows.int(row, 3) ?? 0))
    }
    return known
  }

  // MARK: Writing

  /// What follows the requests themselves in the transaction that gives them back and adds others.
  static func graph(_ settled: [SettledRequest], adding drafts: [FleetDraft], _ keys: FleetKeyChanges) -> [PostgresStatement] {
    let requests =
      settled.filter { !$0.record.state.isFinal || $0.record.state == .failed }.map { ($0.record.id, $0.edges) }
      + drafts.map { ($0.record.id, $0.edges) }
    var statements: [PostgresStatement] = []
    if !drafts.isEmpty {
      statements.append(
        PostgresStatement(
          "SELECT taskhost.added($1, $2)", .ints(drafts.map(\.record.id.sequence)),
          .ints(drafts.filter { $0.record.state == .blocked }.map(\.record.id.sequence))))
    }
    if let edges = follow(requests) { statements.append(edges) }
    if !keys.held.isEmpty {
      statements.append(
        PostgresStatement(
          "SELECT taskhost.hold($1, $2, $3, $4)", .texts(keys.held.map(\.identifier.rawValue)), .texts(keys.held.map(\.key)),
          .ints(keys.held.map(\.request.sequence)), .ints(keys.held.map(\.length.wholeMilliseconds))))
    }
    return statements
  }

  /// Writes the edges of requests, each one's all; nil if there are none.
  static func follow(_ requests: [(RequestID, [DependencyRecord])]) -> PostgresStatement? {
    let edges = requests.flatMap { id, edges in edges.map { (request: id, edge: $0) } }
    guard !edges.isEmpty else { return nil }
    return PostgresStatement(
      "SELECT taskhost.follow($1, $2, $3, $4, $5)", .ints(edges.map(\.request.sequence)), .ints(edges.map(\.edge.predecessor.sequence)),
      .texts(edges.map(\.edge.onFailure.rawValue)), .texts(edges.map(\.edge.ended?.rawValue)),
      .blobs(edges.map { $0.edge.ended == nil ? nil : $0.edge.output }))
  }
}

/// What a change does to unique keys.
package struct FleetKeyChanges: Sendable {
  /// Requests that have another key now, or none: also one that a host runs.
  package var moved: [RequestID: String?] = [:]
  /// Keys that are held for a while, whether or not the request lives; for no time to let one go.
  package var held: [(identifier: TaskIdentifier, key: String, request: RequestID, length: Duration)] = []

  package init() {}
}

/// A live request of the fleet that holds a unique key.
package struct UniqueKeyHolder: Sendable, Hashable {
  package let id: RequestID
  package let identifier: TaskIdentifier
  package let key: String
  /// Whether somebody has cancelled it while a host has it.
  package let isStopping: Bool
  /// Whether a host has it.
  package let isOwned: Bool
}
