package import TaskModel
import TaskStore

// What the fleet remembers of the runs of identifiers and schedules.

extension FleetSession {
  /// The last run of each of these identifiers that is not one of these requests', as far as that was in the last day.
  package func lastRuns(
    of identifiers: [TaskIdentifier], besides requests: [RequestID]
  ) throws(FleetError) -> [TaskIdentifier: RunRecord] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT r.record, r.ended FROM unnest($1::text[]) AS u (identifier) CROSS JOIN LATERAL (
          SELECT l.record, l.ended FROM taskhost.run l WHERE l.identifier = u.identifier AND l.ended >= (SELECT taskhost.now_ms() - 86400000)
            AND l.request <> ALL ($2)
          ORDER BY l.ended DESC LIMIT 1) AS r
        """, .texts(identifiers.map(\.rawValue)), .ints(requests.map(\.sequence))))
    return Dictionary(runs(rows).map { ($0.identifier, $0) }) { first, _ in first }
  }

  /// How long ago the last successes of these identifiers ended, as far as that is within `age`.
  package func successes(of identifiers: [TaskIdentifier], within age: Duration) throws(FleetError) -> [TaskIdentifier: Duration] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT u.identifier, taskhost.now_ms() - r.ended FROM unnest($1::text[]) AS u (identifier) CROSS JOIN LATERAL (
          SELECT l.ended FROM taskhost.run l WHERE l.identifier = u.identifier AND l.ended >= (SELECT taskhost.now_ms() - $2)
            AND \(Self.succeeded) ORDER BY l.ended DESC LIMIT 1) AS r
        """, .texts(identifiers.map(\.rawValue)), .int(age.wholeMilliseconds)))
    var ages: [TaskIdentifier: Duration] = [:]
    for row in 0..<rows.count {
      guard let identifier = rows.text(row, 0).flatMap({ try? TaskIdentifier($0) }), let age = rows.int(row, 1) else { continue }
      ages[identifier] = .milliseconds(max(0, age))
    }
    return ages
  }

  /// How many requests of an identifier have not ended: counted, or, if the fleet has some ten thousand of all identifiers, estimated.
  package func liveCount(of identifier: TaskIdentifier) throws(FleetError) -> Int {
    Int(clamping: try ask(PostgresStatement("SELECT taskhost.live_count($1)", .text(identifier.rawValue)).kept).int(0, 0) ?? 0)
  }

  /// How many idempotency keys of a plugin are on record, counted up to the most that one may have.
  package func keyCount(of plugin: TaskIdentifier) throws(FleetError) -> Int {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT count(*) FROM (SELECT FROM taskhost.idempotency WHERE key LIKE 'plugin:%' AND split_part(key, ':', 2) = $1 LIMIT $2) AS k
        """, .text(plugin.rawValue), .int(Int64(Limits.idempotencyKeys))
      ).kept)
    return Int(clamping: rows.int(0, 0) ?? 0)
  }

  /// How many unique keys of an identifier are held for a while, counted up to the most while a plugin submits.
  package func windowCount(of identifier: TaskIdentifier) throws(FleetError) -> Int {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT count(*) FROM (SELECT FROM taskhost.unique_window WHERE identifier = $1 AND until > (SELECT taskhost.now_ms()) LIMIT $2) AS w
        """, .text(identifier.rawValue), .int(Int64(Limits.uniqueWindows))
      ).kept)
    return Int(clamping: rows.int(0, 0) ?? 0)
  }

  /// The requests of these identifiers that have failed for good. When the first one did is not asked if that means to read more than some
  /// thousand records, which have it as `RecordText` writes it.
  package func deadLetters(of identifiers: [TaskIdentifier]) throws(FleetError) -> [DeadLetters] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT f.identifier, f.count, CASE WHEN f.count <= \(Self.mostLettersRead) THEN (
          SELECT min(substring(\(FleetSchema.recordBesidesResources) FROM '"ended_unix_ms":([0-9]{1,18})')::bigint) FROM taskhost.request r
          WHERE r.state = 'failed' AND r.identifier = f.identifier) END
        FROM (SELECT identifier, count(*) FROM taskhost.request WHERE state = 'failed' AND identifier = ANY ($1) GROUP BY 1) f ORDER BY 1
        """, .texts(identifiers.map(\.rawValue))))
    return (0..<rows.count).compactMap { row in
      guard let identifier = rows.text(row, 0).flatMap({ try? TaskIdentifier($0) }), let count = rows.int(row, 1) else { return nil }
      return DeadLetters(
        identifier: identifier, count: Int(count), oldest: rows.int(row, 2).map { WallTime(unixMilliseconds: $0) })
    }
  }

  private static let mostLettersRead = 5000

  /// Requests of these identifiers that nobody has and that have been due for longer than `age`, without payloads, the oldest first: of those
  /// with the same needs, the one that comes next. Of different needs, some thousand are looked at.
  package func overdue(of identifiers: [TaskIdentifier], for age: Duration) throws(FleetError) -> [RequestRecord] {
    records(
      try ask(
        PostgresStatement(
          """
          \(Self.readyLanes)
          SELECT r.id, ''::bytea, r.record, false FROM \(Self.readyHeads)
          WHERE r.due < (SELECT taskhost.now_ms()) - $2 AND r.identifier = ANY ($1) ORDER BY r.due, r.id LIMIT 100
          """, .texts(identifiers.map(\.rawValue)), .int(age.wholeMilliseconds))))
  }

  /// The live requests of these identifiers that repeat, with what their runs have come to: at most `limit`, those with failures first.
  package func schedules(of identifiers: [TaskIdentifier], limit: Int, onlyFailing: Bool) throws(FleetError) -> [ScheduleRecord] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT q.id, ''::bytea, q.record, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = q.id), p.run, p.ended, p.success, p.failures,
          p.failing_since
        FROM (SELECT * FROM taskhost.repeating r WHERE r.identifier = ANY ($1) \(onlyFailing ? "AND r.failures > 0" : "")
          ORDER BY r.failures = 0, r.request LIMIT $2) AS p
        JOIN taskhost.request q ON q.id = p.request AND q.state <> 'failed' ORDER BY q.id
        """, .texts(identifiers.map(\.rawValue)), .int(Int64(limit))))
    return (0..<rows.count).compactMap { row in
      guard let request = try? record(rows, row, from: 0), request.isRepeating else { return nil }
      func time(_ column: Int) -> WallTime? { rows.int(row, column).map { WallTime(unixMilliseconds: $0) } }
      return ScheduleRecord(
        identifier: request.request.identifier, key: request.request.uniqueKey, request: request, lastRun: Self.run(rows, row, from: 4),
        lastSuccess: time(6), failures: Int(clamping: rows.int(row, 7) ?? 0), failingSince: time(8))
    }
  }

  /// What the schedules of each of these identifiers have come to, all of them.
  package func scheduleSums(of identifiers: [TaskIdentifier]) throws(FleetError) -> [TaskIdentifier: ScheduleSum] {
    let rows = try ask(
      PostgresStatement(
        "SELECT identifier, max(success), max(failures) FROM taskhost.repeating WHERE identifier = ANY ($1) GROUP BY identifier",
        .texts(identifiers.map(\.rawValue))))
    var sums: [TaskIdentifier: ScheduleSum] = [:]
    for row in 0..<rows.count {
      guard let identifier = rows.text(row, 0).flatMap({ try? TaskIdentifier($0) }) else { continue }
      sums[identifier] = ScheduleSum(
        lastSuccess: rows.int(row, 1).map { WallTime(unixMilliseconds: $0) }, failures: Int(clamping: rows.int(row, 2) ?? 0))
    }
    return sums
  }

  /// Notes which of these requests repeat, and what their runs have come to; nil if none does.
  static func noteRepeating(_ requests: some Collection<(record: RequestRecord, runs: [RunRecord])>) -> PostgresStatement? {
    let repeating = requests.filter(\.record.isRepeating)
    guard !repeating.isEmpty else { return nil }
    return PostgresStatement("SELECT taskhost.note_repeating($1, $2, $3, $4, $5, $6)") {
      var (ids, identifiers): ([Int64], [String?]) = ([], [])
      var (runIDs, runs): ([String?], [String?]) = ([], [])
      var (succeeded, failed): ([Int64], [Int64]) = ([], [])
      for request in repeating {
        let after = request.runs.lastIndex { $0.outcome?.isSuccess == true }.map { request.runs[($0 + 1)...] }
        ids.append(request.record.id.sequence)
        identifiers.append(request.record.request.identifier.rawValue)
        runIDs.append(request.runs.last?.id.description)
        runs.append(request.runs.last.map { RecordText.text(of: $0.listed) })
        succeeded.append(after == nil ? 0 : 1)
        failed.append(Int64((after ?? request.runs[...]).count { $0.outcome?.isFailure == true }))
      }
      return [.ints(ids), .texts(identifiers), .texts(runIDs), .texts(runs), .ints(succeeded), .ints(failed)]
    }.kept
  }

  /// Of a run.
  private static let succeeded = "outcome IN ('succeeded', 'noop')"
}
