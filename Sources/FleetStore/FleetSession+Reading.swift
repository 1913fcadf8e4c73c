package import TaskModel
import TaskStore

/// A host of the fleet, as the others see it.
package struct FleetMember: Sendable, Hashable {
  package enum State: String, Sendable, CaseIterable {
    /// It renews its lease.
    case alive
    /// It finishes what it has, and takes nothing more.
    case draining
    /// An operator wants what it holds for others: it stops its runs, and then joins again.
    case leaving
    /// Its lease has ended, and nobody has fenced it yet.
    case expired
    /// What it held was given to others.
    case fenced

    /// Whether its lease lasts.
    package var isThere: Bool { self != .expired && self != .fenced }
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
  /// Those that wait for others.
  package let blocked: Int64
  /// Since when the longest waiting of the ready requests is due, of those that come next in each lane; nil if none is ready.
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
               WHEN h.leaving IS NOT NULL THEN 'leaving' WHEN h.draining THEN 'draining' ELSE 'alive' END,
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
        \(Self.readyLanes)
        SELECT (SELECT count(*) FROM taskhost.ready) + soon.count, (SELECT count(*) FROM taskhost.later) - soon.count,
          (SELECT count(*) FROM taskhost.claim),
          (SELECT count(*) FROM taskhost.request WHERE state = 'failed'), (SELECT count(*) FROM taskhost.request WHERE state = 'blocked'),
          least(soon.first, (SELECT min(r.due) FROM \(Self.readyHeads))), n.now
        FROM (SELECT taskhost.now_ms() AS now) n, LATERAL (
          -- What has become due since a host has looked.
          SELECT count(*) AS count, min(l.due) AS first FROM taskhost.later l WHERE l.due <= n.now) soon
        """))
    func count(_ column: Int) -> Int64 { rows.int(0, column) ?? 0 }
    return FleetCounts(
      ready: count(0), later: count(1), held: count(2), failed: count(3), blocked: count(4),
      oldestDue: rows.int(0, 5).map { WallTime(unixMilliseconds: $0) }, now: WallTime(unixMilliseconds: count(6)))
  }

  /// The lanes in which requests are ready: an entry of the index each.
  static let readyLanes = """
    WITH RECURSIVE lanes (lane) AS (
      (SELECT q.lane FROM taskhost.ready q ORDER BY q.lane LIMIT 1)
      UNION ALL
      SELECT (SELECT q.lane FROM taskhost.ready q WHERE q.lane > l.lane ORDER BY q.lane LIMIT 1) FROM lanes l WHERE l.lane IS NOT NULL
    )
    """

  /// The requests `r` that come next in these lanes, of some thousand lanes.
  static let readyHeads = """
    (SELECT lane FROM lanes WHERE lane IS NOT NULL LIMIT 1000) l
    CROSS JOIN LATERAL (SELECT q.request FROM taskhost.ready q WHERE q.lane = l.lane ORDER BY q.rank, q.request LIMIT 1) f
    JOIN taskhost.request r ON r.id = f.request
    """

  // MARK: Requests

  /// Where a request is, or who could take it; nil if it has ended, or if the fleet has none.
  ///
  /// - Parameter preferred: The label or the name of the hosts that it prefers.
  package func placement(of id: RequestID, preferring preferred: String? = nil) throws(FleetError) -> FleetPlacement? {
    guard id.origin == origin else { return nil }
    let rows = try ask(
      PostgresStatement(
        """
        SELECT h.name, h.incarnation = c.incarnation, c.since,
          CASE WHEN h.lease_until < n.now THEN 'its lease has ended' WHEN h.draining THEN 'it drains for the fleet'
               WHEN h.leaving IS NOT NULL THEN 'it gives up what it held'
               ELSE coalesce(h.closed_because[array_position(h.closed, r.lane)], h.closed_because[array_position(h.closed, p.id)]) END,
          r.state = 'pending' AND r.due > n.now - $3 AND taskhost.is_preferred(h, $2), r.due
        FROM taskhost.request r CROSS JOIN (SELECT taskhost.now_ms() AS now) n LEFT JOIN taskhost.claim c ON c.request = r.id
          LEFT JOIN taskhost.host h ON h.fenced IS NULL AND r.identifier = ANY (h.identifiers)
          -- Of what a host does not take of an identifier at all, it says nothing for each lane.
          LEFT JOIN taskhost.lane p ON p.identifier = r.identifier AND p.gates = ''
        WHERE r.id = $1 ORDER BY h.name
        """, .int(id.sequence), .text(preferred), .int(Preference.wait.wholeMilliseconds)))
    guard rows.count > 0 else { return nil }
    var placement = FleetPlacement()
    for row in 0..<rows.count {
      guard let name = rows.text(row, 0) else { continue }
      if rows.flag(row, 1) {
        placement.owner = (name, WallTime(unixMilliseconds: rows.int(row, 2) ?? 0))
      }
      placement.hosts.append((name, rows.text(row, 3)))
      if rows.flag(row, 4), let due = rows.int(row, 5) {
        let until = WallTime(unixMilliseconds: due) + Preference.wait
        placement.preferred = ((placement.preferred?.hosts ?? []) + [name], until)
      }
    }
    return placement
  }

  /// The requests that nobody has and that are due by a time, without payloads: at most `limit`, the first ones first.
  package func waiting(dueBy time: WallTime, limit: Int) throws(FleetError) -> [RequestRecord] {
    records(
      try ask(
        PostgresStatement(
          """
          SELECT r.id, ''::bytea, r.record, false FROM taskhost.request r
          WHERE r.state = 'pending' AND r.due <= $1 AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.request = r.id)
          ORDER BY r.due, r.id LIMIT $2
          """, .int(time.unixMilliseconds), .int(Int64(limit)))))
  }

  /// A request with its payload, wherever it is; nil if the fleet has none.
  package func request(_ id: RequestID) throws(FleetError) -> RequestRecord? {
    guard id.origin == origin else { return nil }
    let rows = try ask(
      PostgresStatement(
        """
        SELECT id, payload, record, EXISTS (SELECT FROM taskhost.claim c WHERE c.request = id) FROM taskhost.request WHERE id = $1
        UNION ALL SELECT id, payload, record, false FROM taskhost.ended WHERE id = $1 LIMIT 1
        """, .int(id.sequence)))
    return rows.count > 0 ? try record(rows, 0, from: 0) : nil
  }

  /// The payloads of those of these requests that the fleet has, wherever they are.
  package func payloads(of ids: [RequestID]) throws(FleetError) -> [RequestID: [UInt8]] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT id, payload FROM taskhost.request WHERE id = ANY ($1)
        UNION ALL SELECT id, payload FROM taskhost.ended WHERE id = ANY ($1)
        """, .ints(ids.map(\.sequence))))
    let found = (0..<rows.count).compactMap { row in
      rows.int(row, 0).map { (RequestID(sequence: $0, origin: origin), rows.bytes(row, 1) ?? []) }
    }
    return Dictionary(found) { first, _ in first }
  }

  /// How many bytes the payloads and the checkpoints have of those of these requests that have not ended, with what
  /// ``takeEdges(_:of:with:)`` reads.
  ///
  /// - Parameter hasOutputs: Whether that reads all outputs.
  package func bytes(of ids: [RequestID], hasOutputs: Bool = false) throws(FleetError) -> [RequestID: Int] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT r.id, \(FleetSchema.bytes(of: "r")) + (
          SELECT CASE WHEN $2 = 0 AND bool_or(e.ended IS NULL AND e.predecessor <> ALL ($1)) THEN 0
              ELSE coalesce(sum(octet_length(e.output)), 0) END
            + \(Limits.payloadBytes) * count(*) FILTER (WHERE e.ended = 'succeeded' AND e.output IS NULL)
          FROM taskhost.edge e WHERE e.request = r.id)
          + coalesce((SELECT octet_length(n.payload) FROM taskhost.raised n WHERE n.request = r.id), 0)
        FROM taskhost.request r WHERE r.id = ANY ($1)
        """, .ints(ids.map(\.sequence)), .int(hasOutputs ? 1 : 0)))
    let found = (0..<rows.count).compactMap { row in
      rows.int(row, 0).map { (RequestID(sequence: $0, origin: origin), Int(clamping: rows.int(row, 1) ?? 0)) }
    }
    return Dictionary(found) { first, _ in first }
  }

  /// The requests that ``RequestScan/covers(_:)`` and `accepts` hold for, as ``RequestStore/scan(_:accepts:)`` gives them. Those that a host
  /// has are `running`. Those that a newer host has written in a way that this one cannot read are left out: `taskhost fleet doctor` names
  /// them, and ``request(_:)`` says what is wrong.
  package func scan(_ scan: RequestScan, accepts: (RequestRecord) -> Bool) throws(FleetError) -> ScannedRequests {
    var found = ScannedRequests()
    var after = scan.after
    var looked = 0
    while true {
      let rows = try page(of: scan, after: after)
      for var record in records(rows) {
        guard scan.covers(record), accepts(record) else { continue }
        record.request.payload = []
        found.records.append(record)
        guard found.records.count < max(1, scan.limit) else {
          found.next = record.id
          return found
        }
      }
      looked += rows.count
      guard rows.count == Self.pageSize, let last = rows.int(rows.count - 1, 0) else { return found }
      after = RequestID(sequence: last, origin: origin)
      guard looked < Self.mostLooked else {
        found.next = after
        return found
      }
    }
  }

  private static let pageSize = 500
  /// The most requests of a scan, so that an answer takes a fraction of a second.
  private static let mostLooked = 5000

  private func page(of scan: RequestScan, after: RequestID?) throws(FleetError) -> PostgresRows {
    let (order, sign) = scan.oldestFirst ? ("ASC", ">") : ("DESC", "<")
    let payload = scan.readsPayload ? "payload" : "''::bytea"
    // An id of another store may have the sequence of one that has not been looked at.
    let comparison = after == nil || after?.origin == origin ? sign : sign + "="
    // A request that a host has is pending in the table.
    let states = Set(scan.states.map(\.shown))
    let written = states.contains(.running) ? states.union([.pending]) : states
    let exact = scan.identifiers.map(\.exact?.rawValue)
    let identifiers = exact.contains(nil) ? [] : exact.compactMap(\.self)
    func part(_ table: String, _ claimed: String, _ condition: String = "") -> String {
      """
      (SELECT id, \(payload), record, \(claimed) FROM taskhost.\(table)
      WHERE ($1::bigint IS NULL OR id \(comparison) $1) AND (cardinality($2::text[]) = 0 OR state = ANY ($2))
        AND (cardinality($3::text[]) = 0 OR identifier = ANY ($3)) \(condition) ORDER BY id \(order) LIMIT $4)
      """
    }
    let claimed = "EXISTS (SELECT FROM taskhost.claim c WHERE c.request = id)"
    // A table without one of the states is left out: to find nothing in a long history takes long.
    var parts: [String] = []
    if states.isEmpty || !states.isSubset(of: Self.statesOfEnded) {
      parts.append(part("request", claimed, states == [.running] ? "AND \(claimed)" : ""))
    }
    if states.isEmpty || !states.isDisjoint(with: Self.statesOfEnded) { parts.append(part("ended", "false")) }
    return try ask(
      PostgresStatement(
        "SELECT * FROM (\(parts.joined(separator: " UNION ALL "))) AS found ORDER BY 1 \(order) LIMIT $4", .int(after?.sequence),
        .texts(written.map(\.rawValue).sorted()), .texts(identifiers), .int(Int64(Self.pageSize))))
  }

  /// The states of requests in the table `ended`; dead letters are not there.
  private static let statesOfEnded: Set<RequestState> = [.succeeded, .cancelled]

  /// The requests that can be read.
  func records(_ rows: PostgresRows) -> [RequestRecord] {
    (0..<rows.count).compactMap { row in (try? record(rows, row, from: 0)) ?? nil }
  }

  /// The request in four columns: id, payload, record, and whether a host has it.
  func record(_ rows: PostgresRows, _ row: Int, from column: Int) throws(FleetError) -> RequestRecord? {
    guard let sequence = rows.int(row, column), let text = rows.bytes(row, column + 2) else { return nil }
    let id = RequestID(sequence: sequence, origin: origin)
    do throws(RecordText.Flaw) {
      let record = try RecordText.request(text, id: id, payload: rows.bytes(row, column + 1) ?? [])
      // Its owner alone knows the run.
      guard rows.flag(row, column + 3), record.state == .pending else { return record }
      return RequestRecord(
        id: id, request: record.request, state: .running, due: record.due, submitted: record.submitted,
        attemptsSpent: record.attemptsSpent, losses: record.losses, lastOutcome: record.lastOutcome, lastMessage: record.lastMessage)
    } catch { throw .unreadable(id, error) }
  }

  /// The matching runs that have ended, newest first, without output, log and trouble. Looks at a bounded number of them.
  ///
  /// - Returns: Also the last one that was looked at: there may be more after it. Nil if there are none.
  package func runs(_ query: RunQuery) throws(FleetError) -> (records: [RunRecord], next: RunID?) {
    guard query.request.map({ $0.origin == origin }) != false else { return ([], nil) }
    var (found, after, looked): ([RunRecord], RunID?, Int) = ([], query.after, 0)
    while true {
      let rows = try page(of: query, after: after)
      for run in runs(rows) where query.matches(run) {
        found.append(run.listed)
        guard found.count < max(1, query.limit) else { return (found, run.id) }
      }
      looked += rows.count
      guard rows.count == Self.pageSize, let last = rows.text(rows.count - 1, 2).flatMap({ RunID($0) }) else { return (found, nil) }
      guard looked < Self.mostLooked else { return (found, last) }
      after = last
    }
  }

  private func page(of query: RunQuery, after: RunID?) throws(FleetError) -> PostgresRows {
    let identifiers = query.identifiers.map(\.exact?.rawValue) + [query.identifier?.rawValue].compactMap(\.self)
    let ids = (query.id?.sequences).map { RunID(sequence: $0.lowerBound, origin: 0)...RunID(sequence: $0.upperBound, origin: .max) }
    // By the database's clock, which may be set by a day: the ids are by the hosts' own, and tell less of when a run has started.
    let ended = query.since.map { $0 + .seconds(-86_400) }
    return try ask(
      PostgresStatement(
        """
        SELECT record, ended, id FROM taskhost.run WHERE ($1::bigint IS NULL OR request = $1) AND ($2::text IS NULL OR id < $2)
          AND (cardinality($3::text[]) = 0 OR outcome = ANY ($3)) AND (cardinality($4::text[]) = 0 OR identifier = ANY ($4))
          AND ($5::text IS NULL OR id BETWEEN $5 AND $6::text) AND ($7::bigint IS NULL OR ended >= $7)
        ORDER BY id DESC LIMIT $8
        """, .int(query.request?.sequence), .text(after?.description), .texts(query.outcomes.map(\.rawValue)),
        .texts(identifiers.contains(nil) ? [] : identifiers.compactMap(\.self)), .text(ids?.lowerBound.description),
        .text(ids?.upperBound.description), .int(ended?.unixMilliseconds), .int(Int64(Self.pageSize))))
  }

  /// Runs that go on, as their hosts have told of them last, at most ``mostRunning``, newest first: of a request, with an id, with smaller
  /// ids than `after`, or all.
  package func running(_ request: RequestID?, run: RunID? = nil, after: RunID? = nil) throws(FleetError) -> [RunRecord] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT run FROM taskhost.claim WHERE run IS NOT NULL AND ($1::bigint IS NULL OR request = $1)
          AND ($2::text IS NULL OR run_id = $2) AND ($3::text IS NULL OR run_id < $3) ORDER BY run_id DESC LIMIT $4
        """, .int(request?.sequence), .text(run?.description), .text(after?.description), .int(Int64(Self.mostRunning))))
    return Self.liveRuns(rows)
  }

  /// The runs that go on in one column, those that can be read.
  static func liveRuns(_ rows: PostgresRows) -> [RunRecord] {
    (0..<rows.count).compactMap { row in rows.bytes(row, 0).flatMap { try? RecordText.run($0, isLive: true) } }
  }

  /// The most of them in one answer: each has the last lines of its log.
  package static let mostRunning = 1000

  /// A run that has ended; nil if there is none.
  package func run(_ id: RunID) throws(FleetError) -> RunRecord? {
    runs(try ask(PostgresStatement("SELECT record, ended FROM taskhost.run WHERE id = $1", .text(id.description)))).first
  }

  func runs(_ rows: PostgresRows) -> [RunRecord] {
    (0..<rows.count).compactMap { Self.run(rows, $0) }
  }

  /// The run in two columns, its record and the time of its end; nil if it cannot be read. One whose host was lost has the record of when it
  /// was told of last.
  static func run(_ rows: PostgresRows, _ row: Int, from column: Int = 0) -> RunRecord? {
    guard let text = rows.bytes(row, column) else { return nil }
    if let run = try? RecordText.run(text) { return run }
    guard var run = try? RecordText.run(text, isLive: true), let ended = rows.int(row, column + 1) else { return nil }
    (run.outcome, run.ended) = (.lost, max(run.started, WallTime(unixMilliseconds: ended)))
    return run
  }
}
