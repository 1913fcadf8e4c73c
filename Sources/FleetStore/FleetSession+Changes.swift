package import TaskModel
import TaskStore

// Changes to requests that no host runs: a host takes them, changes them as its own, and gives them back.

extension FleetSession {
  /// Takes those of these requests that nobody owns: waiting and blocked ones, and dead letters. ``settle(_:_:adding:)`` gives them back.
  package func take(_ incarnation: String, _ ids: [RequestID]) throws(FleetError) -> [ClaimedRequest] {
    guard !ids.isEmpty else { return [] }
    let rows = try ask([
      Self.holdLease(incarnation),
      PostgresStatement(
        "SELECT \(Self.claimed), is_held FROM taskhost.take($1::uuid, $2)", .text(incarnation), .ints(ids.map(\.sequence))),
    ])
    return claimed(rows[1], isHeld: 9)
  }

  /// Lets the database have a change of a request that the host owns still: its next owner finds it so. If the host owns it no more by this
  /// claim, it has recorded what it made of it.
  ///
  /// The lane stays until then: of the runs that a limit counts, this one began as it was.
  ///
  /// - Parameters:
  ///   - record: With its payload and all its losses, as if no run of it had begun; nil if only keys are held.
  ///   - keys: What else happens to unique keys that are held for a while.
  package func keep(
    _ incarnation: String, _ id: RequestID, epoch: Int64, as record: RequestRecord?, keys: FleetKeyChanges
  ) throws(FleetError) {
    var statements = [Self.holdLease(incarnation)]
    if let record {
      statements.append(
        PostgresStatement(
          """
          UPDATE taskhost.request r SET due = $4, rank = $5, event = $6, deadline = $7, payload = $8, record = $9, lost = 0
          FROM taskhost.claim c WHERE r.id = $2 AND c.request = r.id AND c.incarnation = $1::uuid AND c.epoch = $3 AND NOT c.visiting
          """, .text(incarnation), .int(id.sequence), .int(epoch), .int(record.due.unixMilliseconds), .int(Self.rank(of: record)),
          .text(record.request.event?.name), .int(Self.deadline(of: record)), .bytes(record.request.payload),
          .text(RecordText.text(of: record))))
      if let repeating = Self.noteRepeating([(record, [])]) { statements.append(repeating) }
    }
    _ = try ask(statements + Self.graph([], adding: [], keys))
  }

  /// Gives taken requests back as they are now, and adds others, all or none.
  ///
  /// - Parameters:
  ///   - drafts: With ids that ``draw(_:)`` gave.
  ///   - keys: What else happens to unique keys.
  ///   - heard: The notes of which the requests know by now: they need not be woken by them again.
  ///   - takesKeys: Whether dead letters among them live again, whose keys somebody may be about to take.
  /// - Throws: ``FleetError/changed`` if somebody has taken such a key, ``FleetError/locked`` if that is not decided yet, and
  ///   ``FleetError/barred(_:)`` if others wait for one that is to repeat.
  package func settle(
    _ incarnation: String, _ settled: [SettledRequest], adding drafts: [FleetDraft] = [],
    keys: FleetKeyChanges = FleetKeyChanges(), heard: [FleetNote] = [], takesKeys: Bool = false
  ) throws(FleetError) {
    var statements = [Self.holdLease(incarnation)]
    if takesKeys && settled.contains(where: { $0.record.request.uniqueKey != nil }) || drafts.contains(where: \.record.request.hasKeys) {
      statements.append(Self.shortWaits)
    }
    let repeating = settled.lazy.map(\.record).filter { !$0.state.isFinal && $0.isRepeating }.map(\.id.sequence)
    if !repeating.isEmpty { statements.append(PostgresStatement("SELECT taskhost.check_followed($1)", .ints(Array(repeating)))) }
    // A key is let go before another request has it, which may be one that lives again.
    let (given, letGo) = (keys.moved.filter { $0.value != nil }, keys.moved.filter { $0.value == nil })
    statements += Self.rekey(letGo) + Self.finish(incarnation, settled) + Self.forget(heard) + Self.rekey(given)
    _ = try ask(statements + drafts.map { Self.enqueue(named: $0) } + Self.graph(settled, adding: drafts, keys))
  }

  private static func rekey(_ moved: [RequestID: String?]) -> [PostgresStatement] {
    guard !moved.isEmpty else { return [] }
    return [
      PostgresStatement("SELECT taskhost.rekey($1, $2)", .ints(moved.keys.map(\.sequence)), .texts(moved.values.map { $0 }))
    ]
  }

  /// Removes notes, unless the same event has come again with another payload.
  private static func forget(_ notes: [FleetNote]) -> [PostgresStatement] {
    notes.isEmpty ? [] : parts(of: notes.count) { notes[$0].event.payload?.count ?? 0 }.map { forget(notes[$0]) }
  }

  private static func forget(_ notes: ArraySlice<FleetNote>) -> PostgresStatement {
    PostgresStatement(
      """
      DELETE FROM taskhost.raised r USING unnest($1::bigint[], $2::text[], $3::bytea[]) AS u (request, event, payload)
      WHERE r.request = u.request AND r.event = u.event AND r.payload IS NOT DISTINCT FROM u.payload
      """, .ints(notes.map(\.request.sequence)), .texts(notes.map(\.event.name)), .blobs(notes.map(\.event.payload)))
  }

  /// Draws ids for new requests.
  package func draw(_ count: Int) throws(FleetError) -> [RequestID] {
    guard count > 0 else { return [] }
    return ids(try ask(PostgresStatement("SELECT taskhost.new_id() FROM generate_series(1, $1)", .int(Int64(count)))))
  }

  // MARK: Events

  /// The requests that wait for an event, at hosts too.
  package func waiting(forEvent event: String) throws(FleetError) -> [RequestID] {
    ids(
      try ask(
        PostgresStatement(
          "SELECT id FROM taskhost.request WHERE md5(event) = md5($1) AND event = $1 AND state = 'pending' ORDER BY id", .text(event))))
  }

  /// Notes an event for those of these requests that somebody has: whoever sees them come back wakes them.
  ///
  /// - Returns: Those requests.
  package func note(_ event: FleetEvent, for ids: [RequestID]) throws(FleetError) -> [RequestID] {
    self.ids(
      try ask(
        PostgresStatement(
          "SELECT request FROM taskhost.note_event($1, $2, $3)", .ints(ids.map(\.sequence)), .text(event.name),
          event.payload.map { .bytes($0) } ?? .noBytes)))
  }

  /// What is noted for these requests.
  package func notes(of ids: [RequestID]) throws(FleetError) -> [FleetNote] {
    guard !ids.isEmpty else { return [] }
    return notes(
      try ask(
        PostgresStatement(
          "SELECT request, event, payload FROM taskhost.raised WHERE request = ANY ($1) ORDER BY request", .ints(ids.map(\.sequence)))))
  }

  func notes(_ rows: PostgresRows) -> [FleetNote] {
    (0..<rows.count).compactMap { row in
      guard let sequence = rows.int(row, 0), let name = rows.text(row, 1) else { return nil }
      return (RequestID(sequence: sequence, origin: origin), FleetEvent(name: name, payload: rows.bytes(row, 2)))
    }
  }

  /// The requests in the same rows that have no event.
  func undecided(_ rows: PostgresRows) -> [RequestID] {
    (0..<rows.count).compactMap { rows.text($0, 1) == nil ? rows.int($0, 0) : nil }.map { RequestID(sequence: $0, origin: origin) }
  }

  /// Of ids as texts in a JSON array.
  func ids(_ texts: [UInt8]?) -> [RequestID] {
    RecordText.texts(texts).compactMap { Int64($0) }.map { RequestID(sequence: $0, origin: origin) }
  }

  func ids(_ rows: PostgresRows) -> [RequestID] {
    (0..<rows.count).compactMap { rows.int($0, 0) }.map { RequestID(sequence: $0, origin: origin) }
  }

  // MARK: What a host has

  /// Those of these claims of a host that the database does not know.
  package func unowned(
    _ incarnation: String, _ claims: [(id: RequestID, epoch: Int64)]
  ) throws(FleetError) -> [(id: RequestID, epoch: Int64)] {
    guard !claims.isEmpty else { return [] }
    let rows = try ask(
      PostgresStatement(
        """
        SELECT u.id, u.epoch FROM unnest($2::bigint[], $3::bigint[]) AS u (id, epoch) WHERE NOT EXISTS (
          SELECT FROM taskhost.claim c WHERE c.request = u.id AND c.incarnation = $1::uuid AND c.epoch = u.epoch)
        """, .text(incarnation), .ints(claims.map(\.id.sequence)), .ints(claims.map(\.epoch))))
    return (0..<rows.count).compactMap { row in
      guard let id = rows.int(row, 0), let epoch = rows.int(row, 1) else { return nil }
      return (RequestID(sequence: id, origin: origin), epoch)
    }
  }

  /// Says of which lanes the host takes nothing now, and why.
  package func publish(_ incarnation: String, closed: [(lane: Int64, reason: String)]) throws(FleetError) {
    _ = try ask(
      PostgresStatement(
        "UPDATE taskhost.host SET closed = $2, closed_because = $3 WHERE incarnation = $1::uuid AND fenced IS NULL", .text(incarnation),
        .ints(closed.map(\.lane)), .texts(closed.map(\.reason))))
  }

  /// Says how far runs of the host have come.
  package func publish(_ incarnation: String, running runs: [RunRecord]) throws(FleetError) {
    _ = try ask(
      PostgresStatement(
        """
        UPDATE taskhost.claim c SET run = u.run, run_id = u.id, told = taskhost.now_ms()
        FROM unnest($2::bigint[], $3::text[], $4::text[]) AS u (request, run, id)
        WHERE c.request = u.request AND c.incarnation = $1::uuid
        """, .text(incarnation), .ints(runs.map(\.request.sequence)), .texts(runs.map { RecordText.text(of: $0) }),
        .texts(runs.map(\.id.description))))
  }

  /// Cancels a request that a host owns: that host stops it, see ``FleetExchange/cancelled``.
  ///
  /// - Returns: Whether a host owns it.
  package func stop(_ id: RequestID) throws(FleetError) -> Bool {
    let isOwned = try ask(PostgresStatement("SELECT taskhost.stop($1)", .int(id.sequence))).flag(0, 0)
    if isOwned { try notify() }
    return isOwned
  }

  // MARK: Schedules

  /// The live requests of these schedules, with their payloads; those that run have the state `running`.
  ///
  /// - Returns: Also whether one of them ends with its run, because no host had its schedule any more.
  package func requests(
    of schedules: [ScheduleName]
  ) throws(FleetError) -> (named: [ScheduleName: RequestRecord], isStopping: Bool) {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT id, payload, record, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = id), stop FROM taskhost.request
        WHERE (identifier, unique_key) IN (SELECT * FROM unnest($1::text[], $2::text[])) AND state <> 'failed'
        """, .texts(schedules.map(\.identifier.rawValue)), .texts(schedules.map(\.uniqueKey))))
    let named = records(rows).compactMap { record in record.request.scheduleName.map { ($0, record) } }
    return (Dictionary(named) { first, _ in first }, (0..<rows.count).contains { rows.flag($0, 4) })
  }

  /// Notes which schedules a host has in its configuration.
  ///
  /// - Parameter host: Its name, by which it is known when it comes again.
  /// - Returns: The live requests of schedules that no host has any more.
  package func declare(_ schedules: [ScheduleName], host: String) throws(FleetError) -> [RequestID] {
    let rows = try ask(
      PostgresStatement(
        "SELECT request FROM taskhost.declare($1, $2, $3)", .text(host), .texts(schedules.map(\.identifier.rawValue)),
        .texts(schedules.map(\.uniqueKey))))
    return ids(rows)
  }
}
