package import TaskModel
package import TaskStore

/// What keeps a fleet from being exported: it may change meanwhile, or a host has something to do first.
package struct FleetUnrest: Sendable, Hashable {
  /// The names of the hosts that are there.
  package let hosts: [String]
  /// The requests that hosts hold that are gone, and those whose events, cancels and predecessors' ends nobody has acted on.
  package let requests: Int64
  /// How many were submitted after the export had begun.
  package let added: Int64

  package var isNone: Bool { hosts.isEmpty && requests == 0 && added == 0 }
}

extension FleetSession {
  /// What keeps the fleet from being exported.
  package func unrest() throws(FleetError) -> FleetUnrest {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT count(*) FROM (
          SELECT c.request FROM taskhost.claim c JOIN taskhost.request r ON r.id = c.request
          UNION SELECT e.request FROM taskhost.raised e JOIN taskhost.request r ON r.id = e.request WHERE r.state = 'pending'
          UNION SELECT u.request FROM taskhost.undecided u JOIN taskhost.request r ON r.id = u.request WHERE r.state = 'blocked') a
        """))
    let stopped = try ask(PostgresStatement("SELECT count(*) FROM taskhost.request WHERE stop")).int(0, 0) ?? 0
    let hosts = try members().filter(\.state.isThere).map(\.name)
    return FleetUnrest(hosts: hosts, requests: (rows.int(0, 0) ?? 0).adding(saturating: stopped), added: 0)
  }

  /// What has changed in the fleet since it was exported.
  ///
  /// - Parameters:
  ///   - count: How many requests it had then that had not ended: without hosts, they only become more.
  ///   - time: When that was.
  package func unrest(since count: Int64, at time: WallTime) throws(FleetError) -> FleetUnrest {
    let unrest = try unrest()
    let added = try ask(
      PostgresStatement(
        """
        SELECT (SELECT count(*) FROM taskhost.request) - $1, (SELECT to_json(array_agg(h.name))::text FROM taskhost.host h WHERE h.began > $2)
        """, .int(count), .int(time.unixMilliseconds)))
    let began = RecordText.texts(added.bytes(0, 1)).filter { !unrest.hosts.contains($0) }
    return FleetUnrest(hosts: unrest.hosts + began, requests: unrest.requests, added: max(0, added.int(0, 0) ?? 0))
  }

  /// Writes everything that lives in the fleet, and what keys stand for, as an archive of a store. The history stays.
  ///
  /// - Parameter done: Told how many requests have been written, and of how many.
  /// - Returns: How many requests the archive has, how many of these had not ended, and when that was.
  /// - Throws: A ``FleetError``, or what the archive's sink throws.
  package func export(
    to archive: ArchiveWriter, program: String?, _ done: (Int, _ of: Int) -> Void
  ) throws -> (count: Int, live: Int64, at: WallTime) {
    _ = try ask(PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
    defer { _ = try? ask(PostgresStatement("ROLLBACK")) }
    _ = try ask(PostgresStatement("SET LOCAL statement_timeout = 0"))
    let numbers = try ask(
      PostgresStatement(
        """
        SELECT (SELECT count(*) FROM taskhost.request) + (
            SELECT count(*) FROM (\(Self.named)) k WHERE NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = k.request)),
          greatest((SELECT max(id) FROM taskhost.request), (SELECT max(id) FROM taskhost.ended), 0), taskhost.now_ms(),
          (SELECT count(*) FROM taskhost.request)
        """))
    let pauses = try pauses()
    try archive.head(
      origin: origin, highest: numbers.int(0, 1) ?? 0, lastPause: pauses.isEmpty ? nil : Int64(pauses.count), isOpen: false,
      program: program)
    let total = Int(clamping: numbers.int(0, 0) ?? 0)
    var count = 0
    for request in [
      """
      SELECT e.id, e.payload, NULL::bytea, NULL::bytea, e.record, NULL::text, 0::bigint
      FROM (\(Self.named)) k JOIN taskhost.ended e ON e.id = k.request ORDER BY e.id
      """,
      "SELECT e.id, e.payload, e.event_payload, e.checkpoint, e.record, e.unique_key, e.lost::bigint FROM taskhost.request e ORDER BY e.id",
    ] {
      _ = try ask(PostgresStatement("DECLARE exported NO SCROLL CURSOR FOR \(request)"))
      while try exportPage(to: archive, &count) { done(count, total) }
      _ = try ask(PostgresStatement("CLOSE exported"))
    }
    // A store numbers its own from 1 on.
    for (number, pause) in zip(Int64(1)..., pauses) {
      var order = pause.order
      order.isOfFleet = false
      try archive.add(Pause(id: PauseID(number), order: order, since: pause.since))
    }
    try exportKeys(to: archive)
    try archive.finish()
    return (count, numbers.int(0, 3) ?? 0, WallTime(unixMilliseconds: numbers.int(0, 2) ?? 0))
  }

  /// The requests that keys stand for.
  private static let named = "SELECT i.request FROM taskhost.idempotency i UNION SELECT w.request FROM taskhost.unique_window w"

  /// The requests of a page: as many as have the most bytes that a page may have.
  private static let pageOfExport = 50

  /// Writes the next requests. Returns false if there was none.
  private func exportPage(to archive: ArchiveWriter, _ count: inout Int) throws -> Bool {
    let rows = try ask(PostgresStatement("FETCH \(Self.pageOfExport) FROM exported"))
    guard rows.count > 0 else { return false }
    let ids = (0..<rows.count).compactMap { rows.int($0, 0) }.map { RequestID(sequence: $0, origin: origin) }
    let edges = try edges(of: ids)
    for (row, id) in ids.enumerated() {
      var record: RequestRecord
      do throws(RecordText.Flaw) {
        record = try RecordText.request(rows.bytes(row, 4) ?? [], id: id, payload: rows.bytes(row, 1) ?? [])
      } catch { throw FleetError.unreadable(id, error) }
      // The text may be older than who holds the key.
      if !record.state.isFinal || record.state == .failed { record.request.uniqueKey = rows.text(row, 5) }
      if let key = record.request.idempotencyKey { record.request.idempotencyKey = SharedKey.parts(of: key)?.key ?? key }
      record.losses = record.losses.adding(saturating: Int(clamping: rows.int(row, 6) ?? 0))
      try archive.add(
        ArchivedRequest(record: record, eventPayload: rows.bytes(row, 2), checkpoint: rows.bytes(row, 3), edges: edges[id] ?? []))
      count += 1
    }
    return true
  }

  private func exportKeys(to archive: ArchiveWriter) throws {
    var after = ""
    while true {
      let rows = try ask(
        PostgresStatement(
          "SELECT key, fingerprint, request, since FROM taskhost.idempotency WHERE key > $1 ORDER BY key LIMIT 1000", .text(after)))
      for row in 0..<rows.count {
        guard let key = rows.text(row, 0), let fingerprint = rows.int(row, 1), let request = rows.int(row, 2) else { continue }
        let own = SharedKey.parts(of: key)
        try archive.add(
          ArchivedRequests.Key(
            key: own?.key ?? key, fingerprint: UInt64(bitPattern: fingerprint), request: RequestID(sequence: request, origin: origin),
            submitted: WallTime(unixMilliseconds: rows.int(row, 3) ?? 0)), of: own?.plugin.rawValue)
        after = key
      }
      guard rows.count > 0 else { break }
    }
    let rows = try ask(
      PostgresStatement("SELECT identifier, key, request, until FROM taskhost.unique_window WHERE until > taskhost.now_ms() ORDER BY 1, 2"))
    for row in 0..<rows.count {
      guard let identifier = rows.text(row, 0).flatMap({ try? TaskIdentifier($0) }), let key = rows.text(row, 1),
        let request = rows.int(row, 2), let until = rows.int(row, 3)
      else { continue }
      try archive.add(
        ArchivedRequests.Window(
          identifier: identifier, key: key, request: RequestID(sequence: request, origin: origin), until: WallTime(unixMilliseconds: until))
      )
    }
  }
}
