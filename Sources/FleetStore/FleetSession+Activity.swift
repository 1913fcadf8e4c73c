package import TaskModel

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
        SELECT identifier, taskhost.now_ms() - max(ended) FROM taskhost.run WHERE ended >= (SELECT taskhost.now_ms() - $2)
          AND identifier = ANY ($1) AND \(Self.succeeded) GROUP BY identifier
        """, .texts(identifiers.map(\.rawValue)), .int(age.wholeMilliseconds)))
    var ages: [TaskIdentifier: Duration] = [:]
    for row in 0..<rows.count {
      guard let identifier = rows.text(row, 0).flatMap({ try? TaskIdentifier($0) }), let age = rows.int(row, 1) else { continue }
      ages[identifier] = .milliseconds(max(0, age))
    }
    return ages
  }

  /// The requests of these identifiers that have failed for good, without the times of their ends.
  package func deadLetters(of identifiers: [TaskIdentifier]) throws(FleetError) -> [DeadLetters] {
    let rows = try ask(
      PostgresStatement(
        "SELECT identifier, count(*) FROM taskhost.request WHERE state = 'failed' AND identifier = ANY ($1) GROUP BY 1 ORDER BY 1",
        .texts(identifiers.map(\.rawValue))))
    return (0..<rows.count).compactMap { row in
      guard let identifier = rows.text(row, 0).flatMap({ try? TaskIdentifier($0) }), let count = rows.int(row, 1) else { return nil }
      return DeadLetters(identifier: identifier, count: Int(count), oldest: nil)
    }
  }

  /// The live requests of the schedules that hosts have of these identifiers in their configurations, with their last runs. At most
  /// ``countedRuns`` of each are looked at: of one that has failed more often, no success is known.
  package func schedules(of identifiers: [TaskIdentifier]) throws(FleetError) -> [ScheduleRecord] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT q.id, ''::bytea, q.record, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = q.id), l.record, l.ended, p.*
        FROM (SELECT DISTINCT s.identifier, s.key FROM taskhost.schedule s WHERE s.identifier = ANY ($1)) AS s
        JOIN taskhost.request q ON q.identifier = s.identifier AND q.unique_key = s.key AND q.state <> 'failed'
        LEFT JOIN LATERAL (
          SELECT r.record, r.ended FROM taskhost.run r WHERE r.identifier = q.identifier AND r.request = q.id
          ORDER BY r.ended DESC LIMIT 1) AS l ON true
        CROSS JOIN LATERAL (
          SELECT max(u.success), count(*) FILTER (WHERE u.fails), min(u.ended) FILTER (WHERE u.fails) FROM (
            SELECT o.ended, o.success, o.outcome = ANY ($2) AND o.ended > coalesce(o.success, 0) AS fails FROM (
              SELECT r.ended, r.outcome, max(r.ended) FILTER (WHERE \(Self.succeeded)) OVER () AS success FROM (
                SELECT ended, outcome FROM taskhost.run WHERE identifier = q.identifier AND request = q.id
                ORDER BY ended DESC LIMIT $3) AS r) AS o) AS u) AS p
        ORDER BY q.id
        """, .texts(identifiers.map(\.rawValue)), .texts(RunOutcome.allCases.filter(\.isFailure).map(\.rawValue)),
        .int(Self.countedRuns)))
    return (0..<rows.count).compactMap { row in
      guard let request = try? record(rows, row, from: 0) else { return nil }
      func time(_ column: Int) -> WallTime? { rows.int(row, column).map { WallTime(unixMilliseconds: $0) } }
      return ScheduleRecord(
        identifier: request.request.identifier, key: request.request.uniqueKey, request: request,
        lastRun: Self.run(rows, row, from: 4)?.listed, lastSuccess: time(6), failures: Int(rows.int(row, 7) ?? 0), failingSince: time(8))
    }
  }

  private static let countedRuns: Int64 = 300
  /// Of a run.
  private static let succeeded = "outcome IN ('succeeded', 'noop')"
}
