package import TaskModel
import TaskStore

/// A host of the fleet, as the others see it.
package struct FleetMember: Sendable, Hashable {
  package enum State: String, Sendable {
    /// It renews its lease.
    case alive
    /// It finishes what it has, and takes nothing more.
    case draining
    /// Its lease has ended, and nobody has fenced it yet.
    case expired
    /// What it held was given to others.
    case fenced
  }

  package let incarnation: String
  package let name: String
  package let program: String
  package let labels: [String]
  package let identifiers: [String]
  package let state: State
  /// Why it was fenced; nil if it was not.
  package let reason: String?
  package let began: WallTime
  /// How long its lease still lasts; negative if it has ended.
  package let left: Duration
  /// The number of requests that it holds.
  package let held: Int64
}

/// The counts of a fleet.
package struct FleetCounts: Sendable, Hashable {
  package let ready: Int64
  package let later: Int64
  package let held: Int64
  package let failed: Int64
  /// Since when the longest waiting of the ready requests is due; nil if none is ready.
  package let oldestDue: WallTime?
  /// The wall time of the database.
  package let now: WallTime
}

extension FleetSession {
  /// The hosts that have a lease or held one in the last day, oldest first.
  package func members() throws(FleetError) -> [FleetMember] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT h.incarnation::text, h.name, h.program, to_json(h.labels)::text, to_json(h.identifiers)::text,
          CASE WHEN h.fenced IS NOT NULL THEN 'fenced' WHEN h.lease_until < n.now THEN 'expired'
               WHEN h.draining THEN 'draining' ELSE 'alive' END,
          h.reason, h.began, h.lease_until - n.now,
          (SELECT count(*) FROM taskhost.claim c WHERE c.incarnation = h.incarnation)
        FROM taskhost.host h, (SELECT taskhost.now_ms() AS now) n
        WHERE h.fenced IS NULL OR h.fenced > n.now - 86400000 ORDER BY h.began, h.incarnation
        """))
    return (0..<rows.count).compactMap { row in
      guard let incarnation = rows.text(row, 0), let name = rows.text(row, 1),
        let state = rows.text(row, 5).flatMap(FleetMember.State.init)
      else { return nil }
      return FleetMember(
        incarnation: incarnation, name: name, program: rows.text(row, 2) ?? "", labels: RecordText.texts(rows.bytes(row, 3)),
        identifiers: RecordText.texts(rows.bytes(row, 4)), state: state, reason: rows.text(row, 6),
        began: WallTime(unixMilliseconds: rows.int(row, 7) ?? 0), left: .milliseconds(rows.int(row, 8) ?? 0), held: rows.int(row, 9) ?? 0)
    }
  }

  /// How many requests the fleet has.
  package func counts() throws(FleetError) -> FleetCounts {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT (SELECT count(*) FROM taskhost.ready), (SELECT count(*) FROM taskhost.later), (SELECT count(*) FROM taskhost.claim),
          (SELECT count(*) FROM taskhost.request WHERE state = 'failed'),
          (SELECT min(r.due) FROM taskhost.ready q JOIN taskhost.request r ON r.id = q.request), taskhost.now_ms()
        """))
    func count(_ column: Int) -> Int64 { rows.int(0, column) ?? 0 }
    return FleetCounts(
      ready: count(0), later: count(1), held: count(2), failed: count(3),
      oldestDue: rows.int(0, 4).map { WallTime(unixMilliseconds: $0) }, now: WallTime(unixMilliseconds: count(5)))
  }

  /// Lets hosts with that name or incarnation take nothing more, or lets them go on. Returns how many there are.
  package func setDraining(_ isDraining: Bool, host: String) throws(FleetError) -> Int64 {
    try ask(
      PostgresStatement(
        """
        WITH changed AS (
          UPDATE taskhost.host SET draining = ($2 = 1) WHERE (name = $1 OR incarnation::text = $1) AND fenced IS NULL RETURNING 1)
        SELECT count(*) FROM changed
        """, .text(host), .int(isDraining ? 1 : 0))
    ).int(0, 0) ?? 0
  }

  /// Fences hosts with that name or incarnation at once: what they hold goes to others, and nothing that they still do counts.
  ///
  /// - Returns: How many hosts there are, and how many requests they held.
  package func fence(_ host: String, because reason: String) throws(FleetError) -> (hosts: Int64, requests: Int64) {
    let rows = try ask([
      PostgresStatement(
        """
        WITH changed AS (
          UPDATE taskhost.host SET fenced = taskhost.now_ms(), reason = $2
          WHERE (name = $1 OR incarnation::text = $1) AND fenced IS NULL RETURNING 1)
        SELECT count(*) FROM changed
        """, .text(host), .text(reason)),
      PostgresStatement("SELECT taskhost.requeue_fenced()"),
    ])
    return (rows[0].int(0, 0) ?? 0, rows[1].int(0, 0) ?? 0)
  }

  // MARK: Requests

  /// A request with its payload, wherever it is; nil if the fleet has none.
  package func request(_ id: RequestID) throws(FleetError) -> RequestRecord? {
    guard id.origin == origin else { return nil }
    let rows = try ask(
      PostgresStatement(
        """
        SELECT id, payload, record, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = id) FROM taskhost.request WHERE id = $1
        UNION ALL SELECT id, payload, record, false FROM taskhost.ended WHERE id = $1 LIMIT 1
        """, .int(id.sequence)))
    return try records(rows).first
  }

  /// The matching requests: those that have not ended, then those that have, newest first.
  package func requests(_ query: RequestQuery) throws(FleetError) -> [RequestRecord] {
    let states = query.states.map(\.rawValue)
    let rows = try ask(
      PostgresStatement(
        """
        SELECT * FROM (
          SELECT id, ''::bytea, record, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = id) FROM taskhost.request
          WHERE ($1::text IS NULL OR identifier = $1) AND ($2::bigint IS NULL OR id < $2)
            AND (cardinality($3::text[]) = 0 OR state = ANY ($3) OR 'running' = ANY ($3))
          UNION ALL
          SELECT id, ''::bytea, record, false FROM taskhost.ended
          WHERE ($1::text IS NULL OR identifier = $1) AND ($2::bigint IS NULL OR id < $2)
            AND (cardinality($3::text[]) = 0 OR state = ANY ($3))
        ) AS found ORDER BY id DESC LIMIT $4
        """, .text(query.identifier?.rawValue), .int(query.after.map(\.sequence)), .texts(states), .int(Int64(query.limit))))
    return try records(rows).filter { query.matches($0) }
  }

  private func records(_ rows: PostgresRows) throws(FleetError) -> [RequestRecord] {
    var records: [RequestRecord] = []
    for row in 0..<rows.count {
      guard let sequence = rows.int(row, 0), let text = rows.bytes(row, 2) else { continue }
      let id = RequestID(sequence: sequence, origin: origin)
      do throws(RecordText.Flaw) {
        var record = try RecordText.request(text, id: id, payload: rows.bytes(row, 1) ?? [])
        // Its owner alone knows the run.
        if rows.flag(row, 3), record.state == .pending {
          record = RequestRecord(
            id: id, request: record.request, state: .running, due: record.due, submitted: record.submitted,
            attemptsSpent: record.attemptsSpent, losses: record.losses, lastOutcome: record.lastOutcome, lastMessage: record.lastMessage)
        }
        records.append(record)
      } catch { throw .refused("request \(id): \(error)") }
    }
    return records
  }

  /// The ended runs of a request, oldest first.
  package func runs(of id: RequestID) throws(FleetError) -> [RunRecord] {
    let rows = try ask(PostgresStatement("SELECT record FROM taskhost.run WHERE request = $1 ORDER BY ended, id", .int(id.sequence)))
    return (0..<rows.count).compactMap { row in rows.bytes(row, 0).flatMap { try? RecordText.run($0) } }
  }
}
