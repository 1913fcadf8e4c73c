import HostThreads
package import TaskModel
import TaskStore

/// A connection to the database that the hosts of a fleet share, with what they do there. One thread uses it at a time.
package final class FleetSession {
  private let connection: PostgresConnection
  /// How long the server may take to answer.
  private let patience: Duration
  /// The 62 bits that all ids of the fleet share.
  package let origin: UInt64
  /// How long a host's lease lasts after each renewal.
  package let lease: Duration
  /// The database's time as the session began.
  package let began: WallTime?
  /// The server's process; nil if a pool stands in between.
  private let process: Int64?

  /// Connects to a fleet.
  ///
  /// - Parameters:
  ///   - address: What libpq takes: `postgres://…` or `key=value …`.
  ///   - name: The host's name.
  ///   - left: What an earlier connection left at the server, see ``left``. While that waits for a standby, another connection would wait
  ///     with it, and then the next one, until the server takes no more: this throws ``FleetError/away(_:)``.
  package init(_ address: String, name: String, patience: Duration = .seconds(10), left: Int64? = nil) throws(FleetError) {
    self.patience = patience
    let fleet: PostgresRows
    do throws(PostgresError) {
      connection = try PostgresConnection(address, name: "taskhost \(name)")
      fleet = try connection.run(
        PostgresStatement(
          """
          SELECT version, origin, lease_ms, current_setting('server_encoding'), pg_backend_pid(), EXISTS (
            SELECT FROM pg_stat_activity a WHERE a.pid = $1 AND a.wait_event = 'SyncRep' AND a.usename = current_user),
            \(FleetSchema.clock)
          FROM taskhost.fleet
          """, .int(left)), by: SystemClock.now + patience)
      began = fleet.int(0, 6).map { WallTime(unixMilliseconds: $0) }
      let pid = fleet.int(0, 4)
      process = pid == connection.serverProcess ? pid : nil
      // What nobody waits for any more must not go on at the server. This does not end a commit that waits for a standby. Where packets are
      // lost, the server may have half of a transaction, and never learn that its client is gone: it asks, so that others do not wait for
      // its keys for hours. These settings take precedence over those of the role and the database. Behind a pool, all this would be for whoever gets the connection next.
      if process != nil {
        let settings =
          PostgresConnection.settings + [
            ("statement_timeout", "\((patience * 9 / 10).wholeMilliseconds)"),
            ("lock_timeout", "0"), ("idle_session_timeout", "0"), ("default_transaction_isolation", "read committed"),
            ("tcp_keepalives_idle", "10"), ("tcp_keepalives_interval", "5"), ("tcp_keepalives_count", "3"),
          ]
        try connection.run(
          PostgresStatement(
            "SELECT set_config(u.name, u.setting, false) FROM unnest($1::text[], $2::text[]) AS u (name, setting)",
            .texts(settings.map(\.0)), .texts(settings.map(\.1))),
          by: SystemClock.now + patience)
        connection.isAlone = true
      }
    } catch { throw FleetError(error) }
    guard !fleet.flag(0, 5) else { throw .away("a commit of this host waits there for a synchronous standby") }
    guard let version = fleet.int(0, 0), let origin = fleet.int(0, 1), let lease = fleet.int(0, 2) else {
      throw .incomplete("the row of taskhost.fleet is missing")
    }
    // A newer schema keeps what this host calls, see ``FleetSchema``.
    guard version >= FleetSchema.oldestVersion else { throw .version(found: version) }
    if let reason = FleetSetup.unfitEncoding(fleet.text(0, 3)) { throw .refused(reason) }
    (self.origin, self.lease) = (UInt64(bitPattern: origin), .milliseconds(lease))
  }

  /// The server's process that may go on with what this session has waited for in vain; nil for none.
  package var left: Int64? { connection.isAbandoned ? process : nil }

  /// Whether the server's process serves this session alone, and no pool is in between.
  package var isAlone: Bool { connection.isAlone }

  /// Whether the other end has not closed the connection, as far as is known here.
  package var isOpen: Bool { connection.isOpen }

  var deadline: MonotonicTime { SystemClock.now + patience }
  var serverProcess: Int64 { connection.serverProcess }

  func ask(_ statements: [PostgresStatement], then last: PostgresStatement? = nil) throws(FleetError) -> [PostgresRows] {
    do throws(PostgresError) { return try connection.transact(statements, then: last, by: deadline) } catch { throw FleetError(error) }
  }

  func ask(_ statement: PostgresStatement) throws(FleetError) -> PostgresRows {
    let rows = try ask([statement])
    guard let first = rows.first else { throw .refused("the server did not answer a statement") }
    return first
  }

  // MARK: Hosts

  /// Joins the fleet as a new incarnation, whose lease begins now.
  ///
  /// - Parameters:
  ///   - isDraining: Whether it takes nothing, because somebody had drained the incarnation before, as far as that knew.
  ///   - before: That incarnation. What the fleet has of it decides.
  package func register(_ host: FleetHost, isDraining: Bool = false, after before: String? = nil) throws(FleetError) -> String {
    let rows = try ask(
      PostgresStatement(
        "SELECT incarnation FROM taskhost.register($1, $2, $3, $4, $5 = 1, $6::uuid)", .text(host.name), .text(host.program),
        .texts(host.labels), .texts(host.identifiers.map(\.rawValue)), .int(isDraining ? 1 : 0), .text(before)))
    guard let incarnation = rows.text(0, 0) else { throw .refused("it gave no incarnation") }
    return incarnation
  }

  /// Renews a lease, and fences hosts. Throws ``FleetError/fenced`` if this one was fenced.
  ///
  /// - Parameter silent: Hosts that this one has seen without a renewal for as long as their runs can last, with the numbers of renewals
  ///   that it saw.
  package func renew(
    _ incarnation: String, identifiers: [TaskIdentifier], silent: [String: Int64] = [:]
  ) throws(FleetError) -> FleetRenewal {
    let rows = try ask(
      PostgresStatement(
        "SELECT is_draining, requeued, awake_since, others, other_renewals, at, is_leaving FROM taskhost.renew($1::uuid, $2, $3, $4)",
        .text(incarnation), .texts(identifiers.map(\.rawValue)), .texts(Array(silent.keys)), .ints(Array(silent.values))
      ).kept)
    let others = zip(RecordText.texts(rows.bytes(0, 3)), RecordText.texts(rows.bytes(0, 4)).map { Int64($0) ?? 0 })
    return FleetRenewal(
      isDraining: rows.flag(0, 0), requeued: rows.int(0, 1) ?? 0,
      others: Dictionary(others) { first, _ in first }, awakeSince: rows.int(0, 2).map { WallTime(unixMilliseconds: $0) } ?? .distantPast,
      at: rows.int(0, 5).map { WallTime(unixMilliseconds: $0) }, isLeaving: rows.flag(0, 6))
  }

  /// Makes the days of the history that come, and drops those that are over.
  ///
  /// - Parameter now: By this machine's clock: what is over by one clock alone stays.
  /// - Returns: Those of today and tomorrow that could not be made, such as `run_20787`.
  @discardableResult
  package func keepDays(now: WallTime = SystemClock().wallTime) throws(FleetError) -> [String] {
    try ask([Self.keepDays(now), Self.missingDays]).last.map(Self.texts) ?? []
  }

  /// Removes what nobody needs any more besides the history. By this machine's clock too, see ``keepDays(now:)``.
  ///
  /// - Returns: Whether there may be more.
  @discardableResult
  package func clean(now: WallTime = SystemClock().wallTime) throws(FleetError) -> Bool {
    try ask(PostgresStatement("SELECT taskhost.clean($1)", .int(now.unixMilliseconds))).flag(0, 0)
  }

  static func keepDays(_ now: WallTime) -> PostgresStatement {
    PostgresStatement("SELECT taskhost.keep_days($1)", .int(now.unixMilliseconds))
  }

  // MARK: Requests

  /// Records what became of requests that the host held, moves what has become due, and claims what it wants.
  ///
  /// - Parameters:
  ///   - draft: A request without keys that is added first: it may be claimed at once.
  ///   - watched: Lanes of which it asks whether requests are ready that it has not got.
  ///   - search: Looks for other lanes; nil does not.
  ///   - mark: That of the pauses that the host knows; nil does not ask.
  /// - Throws: ``FleetError/fenced`` if there was something to record or to claim, and the lease has ended: nothing has happened.
  package func exchange(
    _ incarnation: String, settling settled: [SettledRequest], adding draft: FleetDraft? = nil, wanting wanted: [FleetDemand],
    watching watched: [Int64] = [], searching search: FleetLaneSearch? = nil, pauses mark: String? = nil
  ) throws(FleetError) -> FleetExchange {
    var statements = settled.isEmpty ? [] : Self.recording(incarnation, settled)
    if let draft { statements.append(Self.enqueue(named: draft)) }
    statements.append(try Self.look(incarnation, wanted, watched, search, pauses: mark))
    let rows = try ask(statements)
    guard rows.count == statements.count, let looked = rows.last, looked.count > 0 else {
      throw .refused("it did not answer all statements")
    }
    var exchange = FleetExchange()
    var before = rows.dropLast()
    if draft != nil, let added = before.popLast() { exchange.added = try named(added) }
    exchange.fenced = Self.fenced(settled, before)
    exchange.claimed = claimed(looked)
    let last = looked.count - 1
    exchange.promoted = looked.int(last, 9) ?? 0
    exchange.at = looked.int(last, 11).map { WallTime(unixMilliseconds: $0) }
    if let due = looked.int(last, 10), let at = exchange.at {
      exchange.nextDue = max(.zero, WallTime(unixMilliseconds: due) - at)
    }
    exchange.cancelled = ids(looked.bytes(last, 12))
    exchange.late = ids(looked.bytes(last, 13))
    exchange.waiting = Set(RecordText.texts(looked.bytes(last, 15)).compactMap { Int64($0) })
    if let reached = looked.int(last, 17) { exchange.search = Self.lanes(looked.bytes(last, 16), reached: reached) }
    exchange.pauses = FleetPauses(looked.bytes(last, 18))
    if looked.flag(last, 14) {
      let unheard = try ask(PostgresStatement("SELECT request, event, payload FROM taskhost.unheard()"))
      (exchange.unheard, exchange.undecided) = (notes(unheard), undecided(unheard))
    }
    return exchange
  }

  /// Records what became of requests that the host held.
  ///
  /// - Parameter tells: Whether the hosts are told.
  /// - Returns: Those that were not the host's to decide any more.
  /// - Throws: ``FleetError/fenced`` if the lease has ended: nothing has happened.
  package func record(_ incarnation: String, _ settled: [SettledRequest], tells: Bool) throws(FleetError) -> [RequestID] {
    guard !settled.isEmpty else { return [] }
    return Self.fenced(settled, try ask(Self.recording(incarnation, settled), then: tells ? Self.notification : nil)[...])
  }

  private static func recording(_ incarnation: String, _ settled: [SettledRequest]) -> [PostgresStatement] {
    [holdLease(incarnation)] + finish(incarnation, settled)
  }

  /// - Parameter rows: The answers to ``recording(_:_:)``.
  private static func fenced(_ settled: [SettledRequest], _ rows: ArraySlice<PostgresRows>) -> [RequestID] {
    let accepted = Set(rows.dropFirst().flatMap { part in (0..<part.count).compactMap { part.int($0, 0) } })
    return settled.map(\.record.id).filter { !accepted.contains($0.sequence) }
  }

  /// Makes the transaction wait for whoever fences the host, and fail if it is fenced.
  static func holdLease(_ incarnation: String) -> PostgresStatement {
    PostgresStatement("SELECT taskhost.hold_lease($1::uuid)", .text(incarnation)).kept
  }

  /// Gives back what the host owns besides `known`: the answer to a claim may have been lost with a connection.
  package func giveBackUnknown(_ incarnation: String, besides known: [RequestID]) throws(FleetError) -> Int64 {
    let count =
      try ask(
        PostgresStatement(
          "SELECT taskhost.give_back_unknown($1::uuid, $2)", .text(incarnation), .ints(known.map(\.sequence)))
      ).int(0, 0) ?? 0
    if count > 0 { try notify() }
    return count
  }

  /// Lets the fencing tokens go on far above the earlier ones if the server, or what it has, may be an earlier state.
  package func recogniseServer() throws(FleetError) { _ = try ask(PostgresStatement("SELECT taskhost.recognise()")) }

  private static func look(
    _ incarnation: String, _ wanted: [FleetDemand], _ watched: [Int64], _ search: FleetLaneSearch?, pauses mark: String?
  ) throws(FleetError) -> PostgresStatement {
    // In one order at all hosts: they wait for each other.
    let groups = Dictionary(uniqueKeysWithValues: zip(Set(wanted.map(\.identifier)).sorted(), Int64(1)...))
    let shut = Array(search?.shut ?? [])
    var shutGates: [String] = []
    for lane in shut {
      let text = try Self.text(of: lane.gates)
      shutGates.append(text.isEmpty ? "{}" : text)
    }
    return PostgresStatement(
      """
      SELECT \(Self.claimed), moved, next_due, at, stopped, late, has_event, waiting, found, reached, pauses
      FROM taskhost.look($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::text[], $13::integer, $14, $15, $16)
      """, .text(incarnation),
      .ints(wanted.map(\.lane)), .ints(wanted.map { Int64($0.limit) }), .ints(wanted.map { groups[$0.identifier] ?? 0 }),
      .ints(wanted.map { Int64($0.runsPerKey ?? 0) }), .ints(wanted.map { Int64($0.rate?.count ?? 0) }),
      .ints(wanted.map { $0.rate?.period.wholeMilliseconds ?? 0 }), .ints(wanted.map { Int64($0.ratePerKey?.count ?? 0) }),
      .ints(wanted.map { $0.ratePerKey?.period.wholeMilliseconds ?? 0 }), .ints(watched), .texts(wanted.map { $0.prefers ?? "" }),
      search.map { .texts($0.identifiers.map(\.rawValue)) } ?? .text(nil), .int(search?.start ?? 0),
      .texts(shut.map(\.identifier.rawValue)), .texts(shutGates), .text(mark)
    ).kept
  }

  /// The lanes of an array with the number, the identifier and the needs of each.
  private static func lanes(_ json: [UInt8]?, reached: Int64) -> FleetLaneSearch.Result {
    var result = FleetLaneSearch.Result()
    result.reached = reached
    let texts = RecordText.texts(json)
    for start in stride(from: 0, to: texts.count - 2, by: 3) {
      guard let id = Int64(texts[start]) else { continue }
      if let identifier = try? TaskIdentifier(texts[start + 1]), let gates = try? RecordText.gates(texts[start + 2]) {
        result.lanes.append(FleetLane(id: id, lane: Lane(identifier, gates)))
      } else {
        result.unreadable.append(id)
      }
    }
    return result
  }

  static func finish(_ incarnation: String, _ settled: [SettledRequest]) -> [PostgresStatement] {
    let repeating = noteRepeating(settled.lazy.map { ($0.record, $0.runs) })
    return parts(of: settled.count) { settled[$0].valueBytes }.map { finish(incarnation, settled[$0]) } + [repeating].compactMap(\.self)
  }

  private static func finish(_ incarnation: String, _ settled: ArraySlice<SettledRequest>) -> PostgresStatement {
    PostgresStatement(
      "SELECT request FROM taskhost.finish($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)"
    ) {
      var columns = FleetColumns()
      var (ids, epochs, states): ([Int64], [Int64], [String?]) = ([], [], [])
      var (payloads, eventPayloads, checkpoints): ([[UInt8]?], [[UInt8]?], [[UInt8]?]) = ([], [], [])
      var (runs, runRequests): ([String?], [Int64]) = ([], [])
      var (runIDs, outcomes): ([String?], [String?]) = ([], [])
      for request in settled {
        let record = request.record
        ids.append(record.id.sequence)
        epochs.append(request.epoch)
        states.append(record.state.shown.rawValue)
        columns.append(record, lane: request.lane)
        payloads.append(request.hasNewPayload ? record.request.payload : nil)
        eventPayloads.append(request.eventPayload)
        checkpoints.append(request.checkpoint)
        for run in request.runs {
          runIDs.append(run.id.description)
          runRequests.append(run.request.sequence)
          outcomes.append((run.outcome ?? .lost).rawValue)
          runs.append(RecordText.text(of: run))
        }
      }
      return [
        .text(incarnation), .ints(ids), .texts(states), .ints(columns.lanes), .ints(columns.dues), .ints(columns.ranks),
        .texts(columns.events), .ints(columns.deadlines), .blobs(payloads), .blobs(eventPayloads), .blobs(checkpoints),
        .texts(columns.records), .texts(runIDs), .ints(runRequests), .texts(outcomes), .texts(runs), .ints(epochs),
      ]
    }.kept
  }

  /// When a request is to be relaxed; ``WallTime/distantFuture`` for never.
  static func deadline(of record: RequestRecord) -> Int64 {
    record.isRelaxed ? .max : record.request.deadline?.unixMilliseconds ?? .max
  }

  /// The columns of a request that a host takes.
  static let claimed = "id, lane, rank, epoch, lost, payload, event_payload, checkpoint, record"

  /// - Parameter isHeld: The column that says whether another request has the unique key, if there is one.
  func claimed(_ rows: PostgresRows, isHeld column: Int? = nil) -> [ClaimedRequest] {
    var reader = RecordText.RequestReader()
    return (0..<rows.count).compactMap { row in
      guard let sequence = rows.int(row, 0), let lane = rows.int(row, 1), let rank = rows.int(row, 2), let epoch = rows.int(row, 3),
        let text = rows.bytes(row, 8)
      else { return nil }
      let id = RequestID(sequence: sequence, origin: origin)
      let (payload, eventPayload, checkpoint) = (rows.bytes(row, 5) ?? [], rows.bytes(row, 6), rows.bytes(row, 7))
      let bytes = (payload: payload.count, event: eventPayload?.count ?? 0, checkpoint: checkpoint?.count ?? 0)
      let record = Result { () throws(RecordText.Flaw) in
        try RecordText.check(payloadBytes: bytes.payload, eventPayloadBytes: bytes.event, checkpointBytes: bytes.checkpoint)
        return try reader.request(text, id: id, payload: payload)
      }
      return ClaimedRequest(
        id: id, lane: lane, rank: rank, epoch: epoch, lost: Int(clamping: rows.int(row, 4) ?? 0), eventPayload: eventPayload,
        checkpoint: checkpoint, isHeld: column.map { rows.flag(row, $0) } ?? false, record: record,
        bytes: bytes.payload + bytes.event + bytes.checkpoint)
    }
  }

  static func rank(of record: RequestRecord) -> Int64 {
    DueRequest(
      id: record.id, due: record.due, priority: record.request.priority, attemptsSpent: 0, isRepeating: false
    ).rank
  }

  /// The most requests of one statement, and of the first one of several: the server works on it while the next ones are written.
  private static let (together, atFirst) = (250, 50)
  /// The most bytes of one statement, unless a single request has more.
  private static let bytesTogether = 1 << 20

  /// Divides requests among the statements that send them: the places of each statement's.
  ///
  /// - Parameter bytes: Of the values of the one at a place.
  static func parts(of count: Int, bytes: (Int) -> Int) -> [Range<Int>] {
    var parts: [Range<Int>] = []
    var (first, sum) = (0, 0)
    for place in 0..<count {
      let more = bytes(place)
      let most = parts.isEmpty && count > together ? atFirst : together
      if place > first, place - first >= most || sum + more > bytesTogether {
        parts.append(first..<place)
        (first, sum) = (place, 0)
      }
      sum += more
    }
    return parts + [first..<count]
  }

  // MARK: Waking

  /// Tells the hosts that there is something to claim or to stop. Not part of a transaction that must be durable: NOTIFY takes a lock of the
  /// whole cluster until its commit is synced.
  package func notify() throws(FleetError) { _ = try ask(Self.notification) }

  static let notification = PostgresStatement("SELECT pg_notify('taskhost', '')").kept

  /// Lets ``wait(waker:until:)`` return at notifications. A pool that shares its connections does not pass them on.
  package func listen() throws(FleetError) { _ = try ask([PostgresStatement("LISTEN taskhost")]) }

  /// Waits for a notification, for `waker` to be readable, or until `deadline`. Returns whether there was a notification.
  package func wait(waker: Int32, until deadline: MonotonicTime) throws(FleetError) -> Bool {
    do throws(PostgresError) { return try !connection.wait(waker: waker, until: deadline).isEmpty } catch { throw FleetError(error) }
  }
}
