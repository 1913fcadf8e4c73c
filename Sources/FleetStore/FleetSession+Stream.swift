package import TaskModel
import TaskStore

// What other hosts do, for those who read a host's events.

/// What other hosts have ended and is not told of yet, oldest first: as much of it as one answer may have.
package struct FleetEnds<ID: Hashable & Sendable, End: Sendable>: Sendable {
  /// Those that can be read.
  package var ended: [End] = []
  /// When each one ended.
  package var times: [ID: WallTime] = [:]
  /// The time of the database until which all is there, apart from transactions that have not ended.
  package var until: WallTime
  /// Whether there is more.
  package var isPart = false
}

extension FleetSession {
  /// Runs that go on at other hosts, as these have told of them since a time of the database.
  ///
  /// - Parameters:
  ///   - time: Nil: all.
  ///   - incarnation: This host, whose runs are left out.
  package func running(toldSince time: WallTime?, besides incarnation: String?) throws(FleetError) -> [RunRecord] {
    let rows = try ask(
      PostgresStatement(
        "SELECT run FROM taskhost.claim WHERE told >= coalesce($1, 0) AND incarnation IS DISTINCT FROM $2::uuid ORDER BY run_id",
        .int(time?.unixMilliseconds), .text(incarnation)))
    return Self.liveRuns(rows)
  }

  /// Runs that other hosts have ended since a time of the database, each with its request as it is now.
  ///
  /// - Parameters:
  ///   - time: Nil: what has ended within `age`.
  ///   - incarnation: This host, whose ends are left out.
  ///   - told: Runs that are left out too, each with the time of its end.
  package func endedRuns(
    since time: WallTime?, or age: Duration, besides incarnation: String?, told: [RunID: WallTime]
  ) throws(FleetError) -> FleetEnds<RunID, (run: RunRecord, request: RequestRecord?)> {
    let rows = try ask(
      PostgresStatement(
        """
        WITH RECURSIVE names (identifier) AS (
          (SELECT l.identifier FROM taskhost.lane l ORDER BY l.identifier LIMIT 1) UNION ALL SELECT (
            SELECT l.identifier FROM taskhost.lane l WHERE l.identifier > n.identifier ORDER BY l.identifier LIMIT 1)
          FROM names n WHERE n.identifier IS NOT NULL)
        SELECT u.run, u.ended, q.id, q.payload, q.record, q.claimed, taskhost.now_ms(), u.found, u.id FROM (SELECT 1) AS one LEFT JOIN LATERAL (
          SELECT w.* FROM (
            SELECT f.*, count(*) OVER () AS found, row_number() OVER oldest AS number, sum(octet_length(f.run)) OVER oldest AS bytes FROM (
              SELECT e.* FROM names n CROSS JOIN LATERAL (
                SELECT r.id, r.record AS run, r.request, r.ended FROM taskhost.run r WHERE r.identifier = n.identifier
                  AND r.ended >= (SELECT coalesce($1, taskhost.now_ms() - $3)) AND r.incarnation IS DISTINCT FROM $2::uuid
                  -- Hashed, unlike <> ALL before PostgreSQL 15.
                  AND CASE WHEN r.id = ANY ($4::text[]) THEN false ELSE true END
                ORDER BY r.ended LIMIT \(Self.mostEnds)) AS e
              ORDER BY e.ended LIMIT \(Self.mostEnds)) AS f
            WINDOW oldest AS (ORDER BY f.ended, f.id)) AS w
          WHERE w.bytes <= \(Self.mostEndBytes) OR w.number = 1) AS u ON true
        LEFT JOIN LATERAL (
          SELECT id, ''::bytea AS payload, record, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = id) AS claimed
          FROM taskhost.request WHERE id = u.request
          UNION ALL SELECT id, ''::bytea, record, false FROM taskhost.ended WHERE id = u.request LIMIT 1) AS q ON true
        ORDER BY u.ended, u.id
        """, .int(time?.unixMilliseconds), .text(incarnation), .int(age.wholeMilliseconds.adding(saturating: 1)),
        .texts(told.keys.map(\.description))))
    var ends = FleetEnds<RunID, (run: RunRecord, request: RequestRecord?)>(until: WallTime(unixMilliseconds: rows.int(0, 6) ?? 0))
    guard let found = rows.int(0, 7), let last = rows.int(rows.count - 1, 1) else { return ends }
    if found >= Self.mostEnds || rows.count < found { (ends.isPart, ends.until) = (true, WallTime(unixMilliseconds: last)) }
    for row in 0..<rows.count {
      guard let id = rows.text(row, 8).flatMap(RunID.init), let at = rows.int(row, 1) else { continue }
      ends.times[id] = WallTime(unixMilliseconds: at)
      if let run = Self.run(rows, row) { ends.ended.append((run, (try? record(rows, row, from: 2)) ?? nil)) }
    }
    return ends
  }

  /// Requests that other hosts have ended since a time of the database without a run, as they are now.
  ///
  /// - Parameters:
  ///   - incarnation: This host, whose ends are left out.
  ///   - told: Ends that are left out too, each with its time.
  package func endedWithoutRun(
    since time: WallTime, besides incarnation: String?, told: [RequestID: WallTime]
  ) throws(FleetError) -> FleetEnds<RequestID, RequestRecord> {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT q.id, q.payload, q.record, false, t.at, taskhost.now_ms(), t.request FROM (SELECT 1) AS one LEFT JOIN LATERAL (
          SELECT * FROM taskhost.told t WHERE t.at >= $1 AND t.incarnation IS DISTINCT FROM $2::uuid
            AND CASE WHEN t.request || ' ' || t.at = ANY ($3::text[]) THEN false ELSE true END
          ORDER BY t.at, t.request LIMIT \(Self.mostEnds)) AS t ON true
        LEFT JOIN LATERAL (
          SELECT r.id, ''::bytea AS payload, r.record FROM taskhost.request r WHERE r.id = t.request
          UNION ALL SELECT e.id, ''::bytea, e.record FROM taskhost.ended e WHERE e.id = t.request LIMIT 1) AS q ON true
        ORDER BY t.at, t.request
        """, .int(time.unixMilliseconds), .text(incarnation),
        .texts(told.map { "\($0.key.sequence) \($0.value.unixMilliseconds)" })))
    var ends = FleetEnds<RequestID, RequestRecord>(until: WallTime(unixMilliseconds: rows.int(0, 5) ?? 0))
    guard let last = rows.int(rows.count - 1, 4) else { return ends }
    if rows.count >= Self.mostEnds { (ends.isPart, ends.until) = (true, WallTime(unixMilliseconds: last)) }
    for row in 0..<rows.count {
      guard let sequence = rows.int(row, 6), let at = rows.int(row, 4) else { continue }
      ends.times[RequestID(sequence: sequence, origin: origin)] = WallTime(unixMilliseconds: at)
      if let request = (try? record(rows, row, from: 0)) ?? nil { ends.ended.append(request) }
    }
    return ends
  }

  /// The last ended run of a request; nil if there is none.
  package func lastRun(of request: RequestID) throws(FleetError) -> RunRecord? {
    runs(
      try ask(
        PostgresStatement(
          "SELECT record, ended FROM taskhost.run WHERE request = $1 ORDER BY ended DESC, id DESC LIMIT 1", .int(request.sequence)))
    ).first
  }

  /// The most ends of an answer, and the most bytes of their runs, unless a single one has more.
  private static let (mostEnds, mostEndBytes) = (1000, 4 << 20)
}
