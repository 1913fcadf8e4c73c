import HostThreads
import TaskModel
import TaskStore

extension FleetSession {
  /// Looks at everything that may go wrong. Changes nothing.
  ///
  /// - Parameters:
  ///   - long: From which age a transaction counts as long.
  ///   - patience: For how long requests may be ready before they are told of.
  package func health(long: Duration, patience: Duration) throws(FleetError) -> FleetHealth {
    var health = FleetHealth()
    let asked = SystemClock().wallTime
    let time = try ask(PostgresStatement("SELECT \(FleetSchema.clock)"))
    health.trip = SystemClock().wallTime - asked
    health.ahead = WallTime(unixMilliseconds: time.int(0, 0) ?? 0) - (asked + health.trip / 2)
    let relations = PostgresStatement(FleetSchema.missingTables, .texts(FleetSchema.tableNames + FleetSchema.sequenceNames))
    let missing = try ask([Self.missingFunctions, relations])
    health.missing = missing.flatMap(Self.texts)
    // The rest needs them.
    guard health.missing.isEmpty else { return health }
    let build = try ask(
      PostgresStatement("SELECT \(FleetSchema.fencesWait), (SELECT count(*) FROM (\(FleetSchema.openFunctions)) f)"))
    (health.fencesWait, health.openFunctions) = (build.flag(0, 0), build.int(0, 1) ?? 0)
    // First what needs no table of the fleet: another transaction may have locked them.
    let rows = try ask([
      Self.server, Self.settings, PostgresStatement(Self.transactions, .int(long.wholeMilliseconds)), Self.slots, Self.standbys,
      Self.tables,
      Self.missingDays, Self.missingIndexes, Self.lackingRights, Self.unlogged,
    ])
    guard rows.count == 10 else { throw .refused("it did not answer all statements") }
    readServer(rows[0], rows[1], &health)
    readCare(rows, &health)
    (health.missingDays, health.missingIndexes, health.lackingRights) = (Self.texts(rows[6]), Self.texts(rows[7]), Self.texts(rows[8]))
    health.unlogged = Self.texts(rows[9])
    do throws(FleetError) { try readTables(patience, &health) } catch { health.unread = error }
    return health
  }

  private func readTables(_ patience: Duration, _ health: inout FleetHealth) throws(FleetError) {
    let rows = try ask([
      Self.lockPatience, PostgresStatement("SELECT version::bigint FROM taskhost.fleet"), Self.homeless,
      PostgresStatement(Self.waiting, .int(patience.wholeMilliseconds)), Self.ill, Self.strays, Self.orphans,
      PostgresStatement("SELECT \(FleetSchema.tokensAreBehind)"),
    ])
    guard rows.count == 8 else { throw .refused("it did not answer all statements") }
    health.schema = rows[1].int(0, 0) ?? 0
    health.homeless = Self.texts(rows[2])
    health.waiting = (0..<rows[3].count).map { row in
      FleetHealth.Waiting(
        identifier: rows[3].text(row, 0) ?? "", first: RequestID(sequence: rows[3].int(row, 1) ?? 0, origin: origin),
        needs: rows[3].text(row, 2).flatMap { try? RecordText.gates($0) } ?? .none, age: .milliseconds(rows[3].int(row, 3) ?? 0))
    }
    health.ill = (0..<rows[4].count).compactMap { ill(rows[4], $0) }
    health.strays = (rows[5].int(0, 0) ?? 0, rows[5].int(0, 1).map { RequestID(sequence: $0, origin: origin) })
    health.laneless = (rows[6].int(0, 0) ?? 0, rows[6].int(0, 1).map { RequestID(sequence: $0, origin: origin) })
    health.heldByNobody = rows[6].int(0, 2) ?? 0
    health.tokensAreBehind = rows[7].flag(0, 0)
    health.members = try members()
  }

  static func texts(_ rows: PostgresRows) -> [String] { (0..<rows.count).compactMap { rows.text($0, 0) } }

  private func readServer(_ server: PostgresRows, _ settings: PostgresRows, _ health: inout FleetHealth) {
    health.server = server.int(0, 0) ?? 0
    health.isStandby = server.flag(0, 1)
    health.user = server.text(0, 2) ?? ""
    health.seesOthers = server.flag(0, 3)
    health.connections = server.int(0, 4) ?? 0
    health.mostConnections = server.int(0, 5) ?? 0
    // A pool tells its clients a number of its own.
    health.isPooled = server.int(0, 6) != serverProcess
    health.waitingCommits = server.int(0, 7) ?? 0
    for row in 0..<settings.count {
      if let name = settings.text(row, 0), let value = settings.text(row, 1) { health.settings[name] = value }
    }
  }

  private func readCare(_ rows: [PostgresRows], _ health: inout FleetHealth) {
    let (transactions, slots, standbys, tables) = (rows[2], rows[3], rows[4], rows[5])
    health.transactions = (0..<transactions.count).map { row in
      FleetHealth.Transaction(
        name: transactions.text(row, 0) ?? "", isPrepared: transactions.flag(row, 1), application: transactions.text(row, 2) ?? "",
        user: transactions.text(row, 3) ?? "", state: transactions.text(row, 4) ?? "", age: .milliseconds(transactions.int(row, 5) ?? 0),
        holdsSnapshot: transactions.flag(row, 6), waiting: transactions.int(row, 7) ?? 0)
    }
    health.slots = (0..<slots.count).map { row in
      FleetHealth.Slot(
        name: slots.text(row, 0) ?? "", isActive: slots.flag(row, 1), status: slots.text(row, 2) ?? "", kept: slots.int(row, 3) ?? 0,
        holdsRows: slots.flag(row, 4))
    }
    health.standbys = (0..<standbys.count).map { row in
      FleetHealth.Standby(name: standbys.text(row, 0) ?? "", mode: standbys.text(row, 1) ?? "")
    }
    health.tables = (0..<tables.count).map { row in
      FleetHealth.Table(
        name: tables.text(row, 0) ?? "", live: tables.int(row, 1) ?? 0, dead: tables.int(row, 2) ?? 0, isVacuumed: tables.flag(row, 3))
    }
  }

  private func ill(_ rows: PostgresRows, _ row: Int) -> FleetHealth.Ill? {
    let id = RequestID(sequence: rows.int(row, 0) ?? 0, origin: origin)
    let lost = rows.int(row, 2) ?? 0
    var flaw: String?
    func bytes(_ column: Int) -> Int { Int(clamping: rows.int(row, column) ?? 0) }
    do throws(RecordText.Flaw) {
      try RecordText.check(payloadBytes: bytes(4), eventPayloadBytes: bytes(5), checkpointBytes: bytes(6))
      _ = try RecordText.request(rows.bytes(row, 3) ?? [], id: id, payload: [])
    } catch { flaw = error.description }
    guard lost > 1 || flaw != nil else { return nil }
    return FleetHealth.Ill(id: id, identifier: rows.text(row, 1) ?? "", lost: lost, flaw: flaw)
  }

  // MARK: Statements

  private static let server = PostgresStatement(
    """
    SELECT current_setting('server_version_num')::bigint, pg_is_in_recovery(), current_user::text,
      pg_has_role(current_user, 'pg_read_all_stats', 'USAGE'),
      (SELECT count(*) FROM pg_stat_activity a
        WHERE a.datid IS NOT NULL AND coalesce(a.backend_type, 'client backend') = 'client backend'),
      current_setting('max_connections')::bigint - current_setting('superuser_reserved_connections')::bigint,
      pg_backend_pid()::bigint, \(waitingCommits)
    """)

  /// As the hosts' user has them: the session itself has set some for itself.
  private static let settings = PostgresStatement(
    """
    SELECT s.name, CASE WHEN s.unit = 's' THEN (s.reset_val::bigint * 1000)::text ELSE s.reset_val END FROM pg_settings s WHERE s.name IN (
      'fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names', 'autovacuum', 'track_counts', 'statement_timeout',
      'lock_timeout', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'transaction_timeout',
      'default_transaction_read_only', 'default_transaction_isolation')
    """)

  /// Commits that have waited for a synchronous standby for two seconds.
  private static let waitingCommits = """
    (SELECT count(*) FROM pg_stat_activity a WHERE a.wait_event = 'SyncRep' AND a.query_start <= clock_timestamp() - interval '2 s')
    """

  /// How many commits wait for a synchronous standby for longer than they should, of those that this user may see; 0 if the database cannot be
  /// asked. A statement that did not end may wait for the locks of one of them.
  package static func waitingCommits(_ address: String) -> Int64 {
    do throws(PostgresError) {
      let connection = try PostgresConnection(address, name: "taskhost look")
      return try connection.run(PostgresStatement("SELECT \(waitingCommits)"), by: SystemClock.now + .seconds(5)).int(0, 0) ?? 0
    } catch { return 0 }
  }

  private static let missingFunctions = PostgresStatement(
    """
    SELECT 'taskhost.' || n.name FROM unnest($1::text[]) AS n (name)
    WHERE NOT EXISTS (SELECT FROM pg_proc p WHERE p.pronamespace = 'taskhost'::regnamespace AND p.proname = n.name) ORDER BY n.name
    """, .texts(FleetSchema.functionNames))

  private static let lockPatience = PostgresStatement("SELECT set_config('lock_timeout', '2s', true)")

  private static let missingIndexes = PostgresStatement(
    "SELECT n FROM unnest($1::text[]) AS u (n) WHERE to_regclass('taskhost.' || n) IS NULL ORDER BY n", .texts(FleetSchema.indexNames))

  private static let unlogged = PostgresStatement(
    """
    SELECT 'taskhost.' || c.relname FROM pg_class c WHERE c.relnamespace = 'taskhost'::regnamespace AND c.relpersistence = 'u'
      AND c.relkind IN ('r', 'S') ORDER BY 1
    """)

  /// What this user may not do that hosts do.
  private static let lackingRights = PostgresStatement(
    """
    SELECT lower(r.name) || ' ' || t.name FROM unnest($1::text[]) AS t (name), unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS r (name)
    WHERE NOT has_table_privilege(t.name, r.name)
    UNION ALL SELECT 'execute taskhost.' || p.proname FROM pg_proc p
    WHERE p.pronamespace = 'taskhost'::regnamespace AND NOT has_function_privilege(p.oid, 'EXECUTE') ORDER BY 1
    """, .texts(FleetSchema.tableNames))

  /// Of this database, and those that are prepared.
  private static let transactions = """
    SELECT a.pid::text, false, coalesce(a.application_name, ''), coalesce(a.usename::text, ''), coalesce(a.state, ''),
      (extract(epoch FROM clock_timestamp() - a.xact_start) * 1000)::bigint AS age, a.backend_xmin IS NOT NULL OR a.backend_xid IS NOT NULL,
      b.hosts
    FROM pg_stat_activity a CROSS JOIN LATERAL (
      SELECT count(*) AS hosts FROM pg_stat_activity w WHERE w.datname = a.datname AND w.wait_event_type = 'Lock'
        AND w.application_name LIKE 'taskhost %' AND a.pid = ANY (pg_blocking_pids(w.pid))) b
    WHERE a.datname = current_database() AND a.pid <> pg_backend_pid() AND a.backend_type = 'client backend'
      AND (a.xact_start <= clock_timestamp() - $1 * interval '1 ms'
        OR b.hosts > 0 AND a.xact_start <= clock_timestamp() - interval '2 s' AND a.application_name NOT LIKE 'taskhost %')
    UNION ALL
    SELECT p.gid, true, '', p.owner::text, 'prepared', (extract(epoch FROM clock_timestamp() - p.prepared) * 1000)::bigint, true, 0
    FROM pg_prepared_xacts p WHERE p.database = current_database() AND p.prepared <= clock_timestamp() - $1 * interval '1 ms'
    ORDER BY age DESC LIMIT 5
    """

  private static let slots = PostgresStatement(
    """
    SELECT s.slot_name::text, s.active, coalesce(s.wal_status, ''),
      coalesce(pg_wal_lsn_diff(CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END, s.restart_lsn),
        0)::bigint,
      s.xmin IS NOT NULL OR s.catalog_xmin IS NOT NULL
    FROM pg_replication_slots s WHERE NOT s.temporary ORDER BY s.slot_name
    """)

  private static let standbys = PostgresStatement(
    "SELECT coalesce(r.application_name, ''), coalesce(r.sync_state, '') FROM pg_stat_replication r ORDER BY 1")

  private static let tables = PostgresStatement(
    """
    SELECT s.relname::text, s.n_live_tup, s.n_dead_tup,
      NOT coalesce(c.reloptions && '{autovacuum_enabled=false,autovacuum_enabled=off,autovacuum_enabled=0}', false)
    FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid WHERE s.schemaname = 'taskhost' ORDER BY s.relname
    """)

  /// Of today and tomorrow, what has no partition.
  static let missingDays = PostgresStatement(
    """
    SELECT d.kind || '_' || d.day FROM (
      SELECT kind, taskhost.now_ms() / 86400000 + number AS day FROM unnest('{ended,run}'::text[]) kind, unnest('{0,1}'::int[]) number
    ) d WHERE NOT \(FleetSchema.hasDay("d.kind", "d.day")) ORDER BY 1
    """)

  private static let living = """
    SELECT unnest(h.identifiers) FROM taskhost.host h WHERE h.fenced IS NULL AND h.lease_until > taskhost.now_ms() AND NOT h.draining
    """

  /// Of those that are not due, the next thousand are looked at.
  private static let homeless = PostgresStatement(
    """
    SELECT w.identifier FROM (
      SELECT l.identifier FROM taskhost.lane l WHERE EXISTS (SELECT FROM taskhost.ready q WHERE q.lane = l.id)
      UNION
      SELECT r.identifier FROM (SELECT n.request FROM taskhost.later n ORDER BY n.due LIMIT 1000) n
        JOIN taskhost.request r ON r.id = n.request
    ) w WHERE w.identifier NOT IN (\(living)) ORDER BY w.identifier LIMIT 10
    """)

  private static let waiting = """
    SELECT l.identifier, r.id, l.gates, taskhost.now_ms() - r.due FROM taskhost.lane l
    CROSS JOIN LATERAL (SELECT q.request FROM taskhost.ready q WHERE q.lane = l.id ORDER BY q.rank, q.request LIMIT 1) f
    JOIN taskhost.request r ON r.id = f.request
    WHERE r.due < taskhost.now_ms() - $1 AND l.identifier IN (\(living))
      AND NOT \(FleetSchema.isPaused("l.identifier", at: "taskhost.now_ms()"))
    ORDER BY r.due LIMIT 5
    """

  private static let strays = PostgresStatement("SELECT count(*), min(s.request) FROM taskhost.strays(taskhost.sample_share()) s")

  private static let orphans = PostgresStatement(
    """
    SELECT count(*), min(r.id), (
      SELECT count(*) FROM taskhost.claim c WHERE NOT EXISTS (SELECT FROM taskhost.host h WHERE h.incarnation = c.incarnation))
    FROM taskhost.request r TABLESAMPLE SYSTEM (taskhost.sample_share())
    WHERE r.state = 'pending' AND NOT EXISTS (SELECT FROM taskhost.lane l WHERE l.id = r.lane)
    """)

  /// What hosts hold or could take, up to some thousands.
  private static let ill = PostgresStatement(
    """
    SELECT r.id, r.identifier, r.lost::bigint, r.record, octet_length(r.payload)::bigint, octet_length(r.event_payload)::bigint,
      octet_length(r.checkpoint)::bigint FROM (
      (SELECT c.request FROM taskhost.claim c LIMIT 1000) UNION (SELECT q.request FROM taskhost.ready q LIMIT 1000)
      UNION (SELECT n.request FROM taskhost.later n ORDER BY n.due LIMIT 1000)
    ) s JOIN taskhost.request r ON r.id = s.request ORDER BY r.lost DESC, r.id
    """)
}
