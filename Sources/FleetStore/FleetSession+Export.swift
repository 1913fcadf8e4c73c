import TaskModel
package import TaskStore

/// What keeps a fleet from being exported: it may change meanwhile, or a host has something to do first.
package struct FleetUnrest: Sendable, Hashable {
  /// The names of the hosts that are there.
  package let hosts: [String]
  /// The requests that hosts hold that are gone, and those whose events, cancels and predecessors' ends nobody has acted on.
  package let requests: Int64

  package var isNone: Bool { hosts.isEmpty && requests == 0 }
}

extension FleetSession {
  /// What keeps the fleet from being exported.
  package func unrest() throws(FleetError) -> FleetUnrest {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT count(*) FROM (SELECT request FROM taskhost.claim UNION SELECT request FROM taskhost.raised
          UNION SELECT request FROM taskhost.undecided) u JOIN taskhost.request r ON r.id = u.request
        """))
    let stopped = try ask(PostgresStatement("SELECT count(*) FROM taskhost.request WHERE stop")).int(0, 0) ?? 0
    let hosts = try members().filter(\.state.isThere).map(\.name)
    return FleetUnrest(hosts: hosts, requests: (rows.int(0, 0) ?? 0) + stopped)
  }

  /// Writes everything that lives in the fleet, and what keys stand for, as an archive of a store. The history stays.
  ///
  /// - Parameter done: Told how many requests have been written, and of how many.
  /// - Returns: How many requests the archive has.
  /// - Throws: A ``FleetError``, or what the archive's sink throws.
  package func export(to archive: ArchiveWriter, program: String?, _ done: (Int, _ of: Int) -> Void) throws -> Int {
    _ = try ask(PostgresStatement("BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY"))
    defer { _ = try? ask(PostgresStatement("ROLLBACK")) }
    let numbers = try ask(
      PostgresStatement(
        """
        SELECT (SELECT count(*) FROM taskhost.request) + (SELECT count(*) FROM taskhost.ended e WHERE \(Self.isNamed)),
          greatest((SELECT max(id) FROM taskhost.request), (SELECT max(id) FROM taskhost.ended), 0)
        """))
    let pauses = try pauses()
    try archive.head(
      origin: origin, highest: numbers.int(0, 1) ?? 0, lastPause: pauses.isEmpty ? nil : Int64(pauses.count), isOpen: false,
      program: program)
    let total = Int(clamping: numbers.int(0, 0) ?? 0)
    var count = 0
    for request in [
      "SELECT e.id, e.payload, NULL::bytea, NULL::bytea, e.record, NULL::text, 0::bigint FROM taskhost.ended e WHERE \(Self.isNamed) AND",
      "SELECT e.id, e.payload, e.event_payload, e.checkpoint, e.record, e.unique_key, e.lost::bigint FROM taskhost.request e WHERE",
    ] {
      var after = Int64.min
      while let last = try exportPage(request, after: after, to: archive, &count) {
        after = last
        done(count, total)
      }
    }
    // A store numbers its own from 1 on.
    for (number, pause) in zip(Int64(1)..., pauses) {
      var order = pause.order
      order.isOfFleet = false
      try archive.add(Pause(id: PauseID(number), order: order, since: pause.since))
    }
    try exportKeys(to: archive)
    try archive.finish()
    return count
  }

  /// Whether a key stands for an ended request `e`.
  private static let isNamed = """
    (EXISTS (SELECT FROM taskhost.idempotency i WHERE i.request = e.id)
      OR EXISTS (SELECT FROM taskhost.unique_window w WHERE w.request = e.id))
    """

  /// The requests of a page: as many as have the most bytes that a page may have.
  private static let pageOfExport = 50

  /// Writes the next requests, by their ids. Returns the last id; nil if there was none.
  private func exportPage(_ select: String, after: Int64, to archive: ArchiveWriter, _ count: inout Int) throws -> Int64? {
    let rows = try ask(
      PostgresStatement("\(select) e.id > $1 ORDER BY e.id LIMIT $2", .int(after), .int(Int64(Self.pageOfExport))))
    guard rows.count > 0 else { return nil }
    let ids = (0..<rows.count).compactMap { rows.int($0, 0) }.map { RequestID(sequence: $0, origin: origin) }
    let edges = try edges(of: ids)
    for (row, id) in ids.enumerated() {
      var record: RequestRecord
      do throws(RecordText.Flaw) {
        record = try RecordText.request(rows.bytes(row, 4) ?? [], id: id, payload: rows.bytes(row, 1) ?? [])
      } catch { throw FleetError.refused("request \(id): \(error)") }
      // The text may be older than who holds the key.
      if !record.state.isFinal || record.state == .failed { record.request.uniqueKey = rows.text(row, 5) }
      if let key = record.request.idempotencyKey { record.request.idempotencyKey = SharedKey.parts(of: key)?.key ?? key }
      record.losses = record.losses.adding(saturating: Int(clamping: rows.int(row, 6) ?? 0))
      try archive.add(
        ArchivedRequest(record: record, eventPayload: rows.bytes(row, 2), checkpoint: rows.bytes(row, 3), edges: edges[id] ?? []))
      count += 1
    }
    return ids.last?.sequence
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
