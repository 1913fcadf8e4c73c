/// The tables and functions of a fleet, in the schema `taskhost` of its database.
///
/// All times are milliseconds since 1970 by the database's clock. Hosts call the functions alone, so that hosts of an older version work on
/// a newer schema: a function keeps its parameters and its meaning, or gets another name.
///
/// How requests move, and why so, is in `Documentation/decisions/fleet-claims.md`.
enum FleetSchema {
  /// The version that ``allTables`` and ``functions`` make.
  static let version: Int64 = 1
  /// The oldest version that this host works on.
  static let oldestVersion: Int64 = 1

  /// Makes the tables of version 1. ``FleetSetup`` adds the fleet's row, in which `server` says where the tables are: see `recognise`.
  static let tables = [
    "CREATE SCHEMA taskhost",
    """
    CREATE TABLE taskhost.fleet (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      version integer NOT NULL, origin bigint NOT NULL, lease_ms integer NOT NULL, history_days integer NOT NULL,
      lanes_swept bigint NOT NULL DEFAULT 0, server text)
    """,
    // One row a host, updated at each renewal. `leaving` is since when an operator wants what it holds for others. `closed` are lanes of
    // which it takes nothing now, with the reasons, for people. Half of a page stays free, so that the new version stands beside the old
    // one (HOT). The constraint is for its locks: a change of a column that is in a key, of `fenced` that is, waits for those who hold the
    // row FOR KEY SHARE, as `hold_lease` does; other changes, such as renewals, do not.
    """
    CREATE TABLE taskhost.host (
      incarnation uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      name text NOT NULL, program text NOT NULL, labels text[] NOT NULL, identifiers text[] NOT NULL,
      began bigint NOT NULL, lease_until bigint NOT NULL, renewals bigint NOT NULL DEFAULT 0, fenced bigint, reason text, draining boolean NOT NULL DEFAULT false,
      leaving bigint,
      closed bigint[] NOT NULL DEFAULT '{}', closed_because text[] NOT NULL DEFAULT '{}',
      CONSTRAINT host_fenced UNIQUE (incarnation, fenced))
      WITH (fillfactor = 50)
    """,
    "CREATE SEQUENCE taskhost.id_counter",
    // The fencing tokens: whoever claims a request later has a greater one.
    "CREATE SEQUENCE taskhost.epoch",
    // What requests need besides their time, as text: those with the same needs become runnable together. New requests get no lane that was
    // retired, since the day of that number; see `sweep_lanes`.
    """
    CREATE TABLE taskhost.lane (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, identifier text NOT NULL, gates text NOT NULL, concurrency_key text, retired bigint)
    """,
    lanesAreUnique,
    "CREATE INDEX lane_identifier ON taskhost.lane (identifier, id)",
    "CREATE INDEX lane_plain ON taskhost.lane (id) WHERE gates = ''",
    // Claims that a rate counts, of an identifier and, if it is not empty, of a concurrency key.
    "CREATE TABLE taskhost.begun (identifier text NOT NULL, concurrency_key text NOT NULL, at bigint NOT NULL, runs bigint NOT NULL)",
    // It has no key: without this, a publication of the database's tables would let all that deletes from it fail.
    "ALTER TABLE taskhost.begun REPLICA IDENTITY FULL",
    "CREATE INDEX begun_at ON taskhost.begun (identifier, concurrency_key, at)",
    // Everything that has not ended, and dead letters. `lost` counts the owners that were fenced while they held it; `stop` says that
    // somebody has cancelled it while a host held it.
    """
    CREATE TABLE taskhost.request (
      id bigint PRIMARY KEY, identifier text NOT NULL, state text NOT NULL, lane integer NOT NULL, due bigint NOT NULL,
      rank bigint NOT NULL, lost integer NOT NULL DEFAULT 0, stop boolean NOT NULL DEFAULT false, unique_key text, event text,
      deadline bigint NOT NULL DEFAULT 9223372036854775807, payload bytea NOT NULL, event_payload bytea, checkpoint bytea, record text NOT NULL)
    """,
    "CREATE UNIQUE INDEX request_key ON taskhost.request (identifier, unique_key) WHERE unique_key IS NOT NULL AND state <> 'failed'",
    "CREATE INDEX request_failed ON taskhost.request (identifier, id) WHERE state = 'failed'",
    "CREATE INDEX request_blocked ON taskhost.request (id) WHERE state = 'blocked'",
    "CREATE INDEX request_stop ON taskhost.request (id) WHERE stop",
    eventIndex,
    // The deadlines of those that need less afterwards.
    "CREATE INDEX request_late ON taskhost.request (deadline) WHERE \(mayBeLate.replacing("r.", with: ""))",
    "CREATE INDEX request_schedule ON taskhost.request (identifier, unique_key) WHERE unique_key LIKE 'config:%' AND state <> 'failed'",
    // Events that came while somebody had the request that waits for them: it is woken when it is back.
    "CREATE TABLE taskhost.raised (request bigint PRIMARY KEY, event text NOT NULL, payload bytea)",
    // The schedules that hosts have in their configuration, by the hosts' names; one that came with an import has none for a day. One that
    // no host has any more ends.
    """
    CREATE TABLE taskhost.schedule (
      identifier text, key text, host text, since bigint NOT NULL DEFAULT 0, PRIMARY KEY (identifier, key, host))
    """,
    "CREATE TABLE taskhost.later (due bigint, request bigint, PRIMARY KEY (due, request))",
    "CREATE TABLE taskhost.ready (lane integer, rank bigint, request bigint, PRIMARY KEY (lane, rank, request))",
    // Who owns a request: to run it, or only to change it (`visiting`). `run` is its run with the id `run_id`, once that has gone on for a
    // while, as its host told of it at `told`.
    """
    CREATE TABLE taskhost.claim (
      request bigint PRIMARY KEY, incarnation uuid NOT NULL, epoch bigint NOT NULL, since bigint NOT NULL,
      visiting boolean NOT NULL DEFAULT false, run text, run_id text, told bigint)
    """,
    """
    CREATE TABLE taskhost.ended (
      id bigint NOT NULL, identifier text NOT NULL, state text NOT NULL, ended bigint NOT NULL, payload bytea NOT NULL,
      record text NOT NULL) PARTITION BY RANGE (ended)
    """,
    "CREATE INDEX ended_id ON taskhost.ended (id)",
    """
    CREATE TABLE taskhost.run (
      id text NOT NULL, request bigint NOT NULL, identifier text NOT NULL, outcome text NOT NULL, ended bigint NOT NULL,
      incarnation uuid NOT NULL, epoch bigint NOT NULL, record text NOT NULL) PARTITION BY RANGE (ended)
    """,
    "CREATE INDEX run_request ON taskhost.run (request)",
    "CREATE INDEX run_id ON taskhost.run (id)",
    "CREATE INDEX run_ended ON taskhost.run (identifier, ended)",
    "CREATE TABLE taskhost.idempotency (key text PRIMARY KEY, fingerprint bigint NOT NULL, request bigint NOT NULL, since bigint NOT NULL)",
    // Rows come in the order of their times.
    "CREATE INDEX idempotency_since ON taskhost.idempotency USING brin (since)",
    // The keys of plugins, by plugins: see `SharedKey`.
    "CREATE INDEX idempotency_plugin ON taskhost.idempotency (split_part(key, ':', 2)) WHERE key LIKE 'plugin:%'",
  ]

  /// What of the requests `r` needs less once its deadline has passed: the condition of an index, which is not used without it.
  static let mayBeLate = "r.state = 'pending' AND r.deadline < \(Int64.max)"

  // By hashes: an index by the texts themselves refuses needs and paths of more than 2,700 bytes.
  static let lanesAreUnique =
    "ALTER TABLE taskhost.lane ADD CONSTRAINT lane_needs EXCLUDE USING hash ((identifier || ' ' || gates) WITH =) WHERE (retired IS NULL)"
  static let eventIndex = "CREATE INDEX request_event ON taskhost.request (md5(event), id) WHERE event IS NOT NULL"

  /// For functions that are called all the time. A connection keeps their plans, and may have made them when the tables were empty: reading
  /// a table as a whole is the best plan then, and takes long as soon as it has grown. What has no index is read all the same.
  static let indexed = "SET enable_seqscan = off SET jit = off"

  /// The database's time, which also a connection without the functions can ask for.
  static let clock = "(extract(epoch FROM pg_catalog.clock_timestamp()) OPERATOR(pg_catalog.*) 1000)::bigint"

  /// Makes all tables, and their indexes.
  static var allTables: [String] { firstTables + repeatingTables }
  private static var firstTables: [String] { tables + pauseTables + graphTables + importTables }

  /// Which of the tables and sequences $1 are not there.
  static let missingTables = "SELECT t FROM unnest($1::text[]) AS u (t) WHERE to_regclass(t) IS NULL ORDER BY t"

  /// The names of all tables, and of those that ``corrections`` cannot make.
  static var tableNames: [String] { names(of: allTables) }
  static var firstTableNames: [String] { names(of: firstTables) }

  /// The names of the sequences that are not a column's own.
  static var sequenceNames: [String] { names(of: allTables, kind: "SEQUENCE") }

  static func names(of tables: [String], kind: String = "TABLE") -> [String] {
    tables.compactMap { statement in
      let words = statement.split(maxSplits: 3) { $0 == " " || $0 == "\n" }
      return words.count > 2 && words[0] == "CREATE" && words[1] == kind ? String(words[2].prefix { $0 != "(" }) : nil
    }
  }

  /// Makes the functions of this version, or replaces those of an older one.
  static let functions = [
    now, newID, days, hosts, lanes, sweeping, preference, pausing, claiming, graphs, finishing, repeating, submitting, importing,
    submission, forms, paths,
  ].flatMap { $0 }

  /// The names of all functions, without the schema's.
  static var functionNames: [String] {
    functions.compactMap { statement in
      let words = statement.split(maxSplits: 5) { $0 == " " || $0 == "\n" }
      guard words.count > 4, words[3] == "FUNCTION", words[4].hasPrefix("taskhost.") else { return nil }
      return String(words[4].dropFirst("taskhost.".count).prefix { $0 != "(" })
    }
  }

  private static let now = [
    """
    CREATE OR REPLACE FUNCTION taskhost.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT \(clock) $$
    """
  ]

  /// Like the ids of a store: 48 bits of milliseconds, 12 of a counter.
  private static let newID = [
    """
    CREATE OR REPLACE FUNCTION taskhost.new_id() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT taskhost.now_ms() OPERATOR(pg_catalog.<<) 12
      OPERATOR(pg_catalog.|) (pg_catalog.nextval('taskhost.id_counter') OPERATOR(pg_catalog.&) 4095) $$
    """
  ]

  private static let hosts = [
    // Fencing tokens go on far above the earlier ones if these are other tables than before, or a standby or a backup has become the server:
    // what that lacks may have had tokens. A server that does not say what it is leaves them as they are.
    """
    CREATE OR REPLACE FUNCTION taskhost.recognise() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE here text; known text := (SELECT f.server FROM taskhost.fleet f);
    BEGIN
      BEGIN
        SELECT c.system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || '/' || 'taskhost.fleet'::regclass::oid INTO here
          FROM pg_control_system() c;
      EXCEPTION WHEN OTHERS THEN RETURN;
      END;
      IF known IS NOT DISTINCT FROM here THEN RETURN; END IF;
      UPDATE taskhost.fleet f SET server = here WHERE f.server IS NOT DISTINCT FROM known;
      IF FOUND AND known IS NOT NULL THEN PERFORM setval('taskhost.epoch', (SELECT e.last_value FROM taskhost.epoch e) + 1000000000); END IF;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION taskhost.register(
      name text, program text, labels text[], identifiers text[], drains boolean DEFAULT false, before uuid DEFAULT NULL)
    RETURNS TABLE (incarnation text, left_ms bigint) LANGUAGE sql AS $$
      -- Most requests need nothing besides their time: an application's long transaction must not be the one that makes their lane.
      INSERT INTO taskhost.lane (identifier, gates) SELECT unnest(identifiers), '' ON CONFLICT DO NOTHING;
      INSERT INTO taskhost.host (name, program, labels, identifiers, began, lease_until, draining)
      SELECT name, program, labels, identifiers, taskhost.now_ms(), taskhost.now_ms() + lease_ms,
        coalesce((SELECT h.draining FROM taskhost.host h WHERE h.incarnation = before), drains) FROM taskhost.fleet
      RETURNING incarnation::text, lease_until - taskhost.now_ms()
    $$
    """,
    // Everything that an owner does holds its row, so that whoever fences it waits for what is under way, and nothing follows. Its own
    // renewals do not wait: see the table.
    """
    CREATE OR REPLACE FUNCTION taskhost.hold_lease(me uuid) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM taskhost.host h WHERE h.incarnation = me AND h.fenced IS NULL FOR KEY SHARE;
      IF NOT FOUND THEN RAISE EXCEPTION 'the lease of host % has ended', me USING ERRCODE = 'TH001'; END IF;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION taskhost.requeue_fenced() RETURNS bigint LANGUAGE plpgsql \(indexed) AS $$
    DECLARE gone bigint[]; lost_runs bigint[];
    BEGIN
      -- The runs that their hosts had told of. Their records are as they were then; readers see by the outcome that they are lost.
      BEGIN
        WITH lost AS (
          INSERT INTO taskhost.run (id, request, identifier, outcome, ended, incarnation, epoch, record)
            SELECT c.run_id, c.request, r.identifier, 'lost', taskhost.now_ms(), c.incarnation, c.epoch, c.run
            FROM taskhost.claim c JOIN taskhost.host h ON h.incarnation = c.incarnation AND h.fenced IS NOT NULL
            JOIN taskhost.request r ON r.id = c.request WHERE c.run_id IS NOT NULL AND NOT c.visiting
          RETURNING run.request, run.record, run.ended
        )
        UPDATE taskhost.repeating p SET run = lost.record, ended = lost.ended FROM lost WHERE p.request = lost.request;
      EXCEPTION WHEN check_violation THEN
        -- No day of the history is there for it: that must not keep what was lost from going on.
        NULL;
      END;
      WITH deleted AS (
        DELETE FROM taskhost.claim c USING taskhost.host h WHERE c.incarnation = h.incarnation AND h.fenced IS NOT NULL
        RETURNING c.request, c.visiting
      )
      SELECT array_agg(request), array_agg(request) FILTER (WHERE NOT visiting) INTO gone, lost_runs FROM deleted;
      UPDATE taskhost.request r SET lost = r.lost + 1 WHERE r.id = ANY (lost_runs);
      RETURN taskhost.put_back(gone);
    END $$
    """,
    // Fences those of these hosts that have not renewed since they were seen with these numbers of renewals. The row first, then what it
    // owned: the second statement sees what was committed while the first one waited.
    """
    CREATE OR REPLACE FUNCTION taskhost.fence_silent(hosts text[], seen bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE taskhost.host h SET fenced = taskhost.now_ms(), reason = 'its lease ended'
        FROM unnest(hosts, seen) AS u (host, renewals)
        WHERE h.incarnation = u.host::uuid AND h.renewals = u.renewals AND h.fenced IS NULL;
      RETURN taskhost.requeue_fenced();
    END $$
    """,
    // Ends the sessions that have locked or changed rows of hosts for longer than a lease, as far as the caller may see and end them. Only hosts
    // do so; who reads them, such as a backup or an application that submits, is left alone.
    """
    CREATE OR REPLACE FUNCTION taskhost.end_frozen() RETURNS void LANGUAGE plpgsql AS $$
    DECLARE frozen integer;
    BEGIN
      FOR frozen IN SELECT a.pid FROM pg_stat_activity a, taskhost.fleet f
        WHERE a.pid <> pg_backend_pid() AND a.xact_start < clock_timestamp() - f.lease_ms * interval '1 millisecond'
          AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND l.relation = 'taskhost.host'::regclass
            AND l.database = (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()) AND l.mode IN ('RowShareLock', 'RowExclusiveLock'))
      LOOP
        BEGIN
          PERFORM pg_terminate_backend(frozen);
        EXCEPTION WHEN insufficient_privilege THEN RAISE WARNING 'process % holds a host''s row: %', frozen, SQLERRM;
        END;
      END LOOP;
    END $$
    """,
    // Renews the lease, fences the hosts that the caller has watched in vain, and returns the others with their numbers of renewals. No clock
    // of the database decides who is fenced: if it is set, nothing happens.
    """
    CREATE OR REPLACE FUNCTION taskhost.renew(me uuid, can_run text[], silent text[], seen bigint[])
    RETURNS TABLE (is_draining boolean, requeued bigint, awake_since bigint, others text, other_renewals text, at bigint, is_leaving boolean)
    LANGUAGE plpgsql AS $$
    DECLARE drains boolean; leaves boolean; freed bigint := 0;
    BEGIN
      UPDATE taskhost.host h
        SET lease_until = taskhost.now_ms() + f.lease_ms, renewals = h.renewals + 1, identifiers = can_run
        FROM taskhost.fleet f WHERE h.incarnation = me AND h.fenced IS NULL RETURNING h.draining, h.leaving IS NOT NULL INTO drains, leaves;
      IF NOT FOUND THEN RAISE EXCEPTION 'the lease of host % has ended', me USING ERRCODE = 'TH001'; END IF;
      IF cardinality(silent) > 0 THEN
        -- A host that froze within a transaction holds its row: its session is ended, and nobody's renewal waits for it.
        PERFORM set_config('lock_timeout', '500ms', true);
        BEGIN
          freed := taskhost.fence_silent(silent, seen);
        EXCEPTION
          WHEN lock_not_available THEN PERFORM taskhost.end_frozen();
          -- The renewal is worth more: the next one tries it again.
          WHEN OTHERS THEN RAISE WARNING 'silent hosts could not be fenced: %', SQLERRM;
        END;
      END IF;
      -- What a host that is gone has not done, nobody has, even while nobody has fenced it yet.
      RETURN QUERY SELECT drains, freed, min(h.began) FILTER (WHERE h.incarnation = me OR h.lease_until > taskhost.now_ms()),
        coalesce(to_json(array_agg(h.incarnation::text) FILTER (WHERE h.incarnation <> me))::text, '[]'),
        coalesce(to_json(array_agg(h.renewals::text) FILTER (WHERE h.incarnation <> me))::text, '[]'), taskhost.now_ms(), leaves
        FROM taskhost.host h WHERE h.fenced IS NULL;
    END $$
    """,
  ]
}
