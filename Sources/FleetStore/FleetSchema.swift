/// The tables and functions of a fleet, in the schema `taskhost` of its database.
///
/// All times are milliseconds since 1970 by the database's clock. Hosts call the functions alone, so that hosts of an older version work on
/// a newer schema: a function keeps its parameters and its meaning, or gets another name.
///
/// How requests move, and why so, is in `Documentation/decisions/fleet-claims.md`.
enum FleetSchema {
  /// The version that ``tables`` and ``functions`` make.
  static let version: Int64 = 1
  /// The oldest version that this host works on.
  static let oldestVersion: Int64 = 1

  /// Makes the tables of version 1. $1 would be the origin, but DDL takes no parameters: ``FleetDatabase/initialise(lease:)`` adds the row.
  static let tables = [
    "CREATE SCHEMA taskhost",
    """
    CREATE TABLE taskhost.fleet (
      single boolean PRIMARY KEY DEFAULT true CHECK (single),
      version integer NOT NULL, origin bigint NOT NULL, lease_ms integer NOT NULL, history_days integer NOT NULL)
    """,
    // One row a host, updated at each renewal. `closed` are lanes of which it takes nothing now, with the reasons, for people. Half of a page stays free, so that the new version stands beside the old one (HOT).
    """
    CREATE TABLE taskhost.host (
      incarnation uuid PRIMARY KEY DEFAULT gen_random_uuid(),
      name text NOT NULL, program text NOT NULL, labels text[] NOT NULL, identifiers text[] NOT NULL,
      began bigint NOT NULL, lease_until bigint NOT NULL, fenced bigint, reason text, draining boolean NOT NULL DEFAULT false,
      closed bigint[] NOT NULL DEFAULT '{}', closed_because text[] NOT NULL DEFAULT '{}')
      WITH (fillfactor = 50)
    """,
    "CREATE SEQUENCE taskhost.id_counter",
    // The fencing tokens: whoever claims a request later has a greater one.
    "CREATE SEQUENCE taskhost.epoch",
    // What requests need besides their time, as text: those with the same needs become runnable together.
    """
    CREATE TABLE taskhost.lane (
      id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, identifier text NOT NULL, gates text NOT NULL, concurrency_key text,
      UNIQUE (identifier, gates))
    """,
    // Claims that a rate counts, of an identifier and, if it is not empty, of a concurrency key.
    "CREATE TABLE taskhost.begun (identifier text NOT NULL, concurrency_key text NOT NULL, at bigint NOT NULL, runs bigint NOT NULL)",
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
    "CREATE INDEX request_stop ON taskhost.request (id) WHERE stop",
    "CREATE INDEX request_event ON taskhost.request (event, id) WHERE event IS NOT NULL",
    // The deadlines of those that have conditions until then.
    "CREATE INDEX request_deadline ON taskhost.request (deadline) WHERE deadline < 9223372036854775807",
    // Events that came while a host had the request that waits for them: it is woken when it is back.
    "CREATE TABLE taskhost.raised (request bigint PRIMARY KEY, event text NOT NULL, payload bytea)",
    // The schedules that hosts have in their configuration, by the hosts' names. One that no host has any more ends.
    "CREATE TABLE taskhost.schedule (identifier text, key text, host text, PRIMARY KEY (identifier, key, host))",
    "CREATE TABLE taskhost.later (due bigint, request bigint, PRIMARY KEY (due, request))",
    "CREATE TABLE taskhost.ready (lane integer, rank bigint, request bigint, PRIMARY KEY (lane, rank, request))",
    // Who owns a request: to run it, or only to change it (`visiting`).
    """
    CREATE TABLE taskhost.claim (
      request bigint PRIMARY KEY, incarnation uuid NOT NULL, epoch bigint NOT NULL, since bigint NOT NULL,
      visiting boolean NOT NULL DEFAULT false)
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
    "CREATE INDEX run_ended ON taskhost.run (ended)",
    "CREATE TABLE taskhost.idempotency (key text PRIMARY KEY, fingerprint bigint NOT NULL, request bigint NOT NULL, since bigint NOT NULL)",
  ]

  /// Makes the functions of this version, or replaces those of an older one.
  static let functions = [now, newID, days, hosts, lanes, claiming, finishing, submitting].flatMap { $0 }

  private static let now = [
    """
    CREATE OR REPLACE FUNCTION taskhost.now_ms() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint $$
    """
  ]

  /// Like the ids of a store: 48 bits of milliseconds, 12 of a counter.
  private static let newID = [
    """
    CREATE OR REPLACE FUNCTION taskhost.new_id() RETURNS bigint LANGUAGE sql VOLATILE AS
    $$ SELECT taskhost.now_ms() << 12 | (nextval('taskhost.id_counter') & 4095) $$
    """
  ]

  /// The history lies in a partition for each day. A day that is over is dropped as a whole.
  private static let days = [
    """
    CREATE OR REPLACE FUNCTION taskhost.keep_days() RETURNS void LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
    DECLARE
      day bigint := 86400000;
      today bigint := taskhost.now_ms() / day;
      oldest bigint := today - (SELECT history_days FROM taskhost.fleet);
      kind text; number bigint; name text;
    BEGIN
      -- One host at a time; the others find the work done.
      IF NOT pg_try_advisory_xact_lock(hashtext('taskhost.keep_days')) THEN RETURN; END IF;
      FOREACH kind IN ARRAY ARRAY['ended', 'run'] LOOP
        FOR number IN today - 1 .. today + 3 LOOP
          name := kind || '_' || number;
          IF to_regclass('taskhost.' || name) IS NULL THEN
            EXECUTE format('CREATE TABLE taskhost.%I PARTITION OF taskhost.%I FOR VALUES FROM (%s) TO (%s)',
              name, kind, number * day, (number + 1) * day);
          END IF;
        END LOOP;
        FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'taskhost'::regnamespace
          AND relname ~ ('^' || kind || '_[0-9]+$') AND relkind = 'r' LOOP
          IF split_part(name, '_', 2)::bigint < oldest THEN EXECUTE format('DROP TABLE taskhost.%I', name); END IF;
        END LOOP;
      END LOOP;
      DELETE FROM taskhost.idempotency WHERE since < oldest * day;
      DELETE FROM taskhost.begun b WHERE b.at < oldest * day;
      DELETE FROM taskhost.raised e WHERE NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = e.request);
      -- What a host had that is gone for so long.
      DELETE FROM taskhost.schedule s WHERE NOT EXISTS (SELECT FROM taskhost.host h WHERE h.name = s.host);
      DELETE FROM taskhost.host WHERE fenced < oldest * day
        AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.incarnation = host.incarnation);
    END $$
    """
  ]

  private static let hosts = [
    """
    CREATE OR REPLACE FUNCTION taskhost.register(name text, program text, labels text[], identifiers text[])
    RETURNS TABLE (incarnation text, left_ms bigint) LANGUAGE sql AS $$
      INSERT INTO taskhost.host (name, program, labels, identifiers, began, lease_until)
      SELECT name, program, labels, identifiers, taskhost.now_ms(), taskhost.now_ms() + lease_ms FROM taskhost.fleet
      RETURNING incarnation::text, lease_until - taskhost.now_ms()
    $$
    """,
    // Everything that an owner does holds its row, so that whoever fences it waits for what is under way, and nothing follows.
    """
    CREATE OR REPLACE FUNCTION taskhost.hold_lease(me uuid) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM FROM taskhost.host h WHERE h.incarnation = me AND h.fenced IS NULL AND h.lease_until > taskhost.now_ms() FOR SHARE;
      IF NOT FOUND THEN RAISE EXCEPTION 'the lease of host % has ended', me USING ERRCODE = 'TH001'; END IF;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION taskhost.requeue_fenced() RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE gone bigint[]; lost_runs bigint[];
    BEGIN
      WITH deleted AS (
        DELETE FROM taskhost.claim c USING taskhost.host h WHERE c.incarnation = h.incarnation AND h.fenced IS NOT NULL
        RETURNING c.request, c.visiting
      )
      SELECT array_agg(request), array_agg(request) FILTER (WHERE NOT visiting) INTO gone, lost_runs FROM deleted;
      UPDATE taskhost.request r SET lost = r.lost + 1 WHERE r.id = ANY (lost_runs);
      RETURN taskhost.put_back(gone);
    END $$
    """,
    // The row first, then what it owned: the second statement sees what was committed while the first one waited.
    """
    CREATE OR REPLACE FUNCTION taskhost.fence_expired() RETURNS bigint LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE taskhost.host SET fenced = taskhost.now_ms(), reason = 'its lease ended'
        WHERE fenced IS NULL AND lease_until < taskhost.now_ms();
      RETURN taskhost.requeue_fenced();
    END $$
    """,
    // Renews the lease, then fences whoever let his own end. Returns when the next lease of another host ends.
    """
    CREATE OR REPLACE FUNCTION taskhost.renew(me uuid, can_run text[])
    RETURNS TABLE (is_draining boolean, requeued bigint, next_end bigint, awake_since bigint) LANGUAGE plpgsql AS $$
    DECLARE drains boolean; freed bigint;
    BEGIN
      UPDATE taskhost.host h SET lease_until = taskhost.now_ms() + f.lease_ms, identifiers = can_run
        FROM taskhost.fleet f WHERE h.incarnation = me AND h.fenced IS NULL AND h.lease_until > taskhost.now_ms()
        RETURNING h.draining INTO drains;
      IF NOT FOUND THEN RAISE EXCEPTION 'the lease of host % has ended', me USING ERRCODE = 'TH001'; END IF;
      -- A host that froze within a transaction holds its row: its session is ended, and nobody's renewal waits for it.
      PERFORM set_config('lock_timeout', '500ms', true);
      BEGIN
        freed := taskhost.fence_expired();
      EXCEPTION WHEN lock_not_available THEN
        freed := 0;
        PERFORM pg_terminate_backend(a.pid) FROM pg_stat_activity a, taskhost.fleet f
          WHERE a.pid <> pg_backend_pid() AND a.xact_start < clock_timestamp() - f.lease_ms * interval '1 millisecond'
          AND EXISTS (SELECT FROM pg_locks l WHERE l.pid = a.pid AND l.granted AND l.relation = 'taskhost.host'::regclass);
      END;
      RETURN QUERY SELECT drains, freed,
        min(h.lease_until) FILTER (WHERE h.incarnation <> me) - taskhost.now_ms(), min(h.began)
        FROM taskhost.host h WHERE h.fenced IS NULL;
    END $$
    """,
  ]

  private static let lanes = [
    // Lets requests that nobody owns any more be found again. Returns how many wait.
    """
    CREATE OR REPLACE FUNCTION taskhost.put_back(ids bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE waiting bigint;
    BEGIN
      WITH back AS (
        SELECT r.id, r.lane, r.rank, r.due FROM taskhost.request r WHERE r.id = ANY (ids) AND r.state = 'pending'
      ), soon AS (
        INSERT INTO taskhost.ready (lane, rank, request) SELECT lane, rank, id FROM back WHERE due <= taskhost.now_ms() RETURNING 1
      ), later AS (
        INSERT INTO taskhost.later (due, request) SELECT due, id FROM back WHERE due > taskhost.now_ms() RETURNING 1
      )
      SELECT (SELECT count(*) FROM soon) + (SELECT count(*) FROM later) INTO waiting;
      RETURN waiting;
    END $$
    """,
    """
    CREATE OR REPLACE FUNCTION taskhost.lane_of(which text, needs text, its_key text) RETURNS integer LANGUAGE plpgsql AS $$
    DECLARE found integer;
    BEGIN
      LOOP
        SELECT id INTO found FROM taskhost.lane l WHERE l.identifier = which AND l.gates = needs;
        IF found IS NOT NULL THEN RETURN found; END IF;
        INSERT INTO taskhost.lane (identifier, gates, concurrency_key) VALUES (which, needs, its_key) ON CONFLICT DO NOTHING;
      END LOOP;
    END $$
    """,
  ]

  private static let claiming = [
    // Moves what has become due; any host does so for all. Returns when the next request is due, and the number of the newest lane.
    """
    CREATE OR REPLACE FUNCTION taskhost.promote(most integer) RETURNS TABLE (moved bigint, next_due bigint, lanes bigint)
    LANGUAGE plpgsql AS $$
    DECLARE count bigint; now bigint := taskhost.now_ms();
    BEGIN
      -- By a variable: the index finds nothing by a function whose value may change from row to row.
      WITH due AS (
        DELETE FROM taskhost.later WHERE ctid = ANY (ARRAY(
          SELECT l.ctid FROM taskhost.later l WHERE l.due <= now ORDER BY l.due LIMIT most FOR UPDATE SKIP LOCKED))
        RETURNING request
      )
      INSERT INTO taskhost.ready SELECT r.lane, r.rank, r.id FROM due JOIN taskhost.request r ON r.id = due.request;
      GET DIAGNOSTICS count = ROW_COUNT;
      RETURN QUERY SELECT count, (SELECT min(l.due) FROM taskhost.later l), (SELECT max(l.id) FROM taskhost.lane l)::bigint;
    END $$
    """,
    // How many more claims a rate allows: at most `most` in any `period` milliseconds.
    """
    CREATE OR REPLACE FUNCTION taskhost.left_of_rate(which text, its_key text, most bigint, period bigint) RETURNS bigint
    LANGUAGE plpgsql AS $$
    DECLARE since bigint := taskhost.now_ms() - period;
    BEGIN
      DELETE FROM taskhost.begun b WHERE b.identifier = which AND b.concurrency_key = its_key AND b.at <= since;
      RETURN most - (SELECT coalesce(sum(b.runs), 0) FROM taskhost.begun b WHERE b.identifier = which AND b.concurrency_key = its_key);
    END $$
    """,
    // `hints` are ranks below which the host has found nothing: dead entries of the index are not read again and again. Of the limits that
    // hold for the whole fleet, 0 is none; hosts that claim what is limited wait for each other, in the order of the lanes' identifiers.
    """
    CREATE OR REPLACE FUNCTION taskhost.claim(
      me uuid, lanes bigint[], limits bigint[], hints bigint[], key_runs bigint[], rates bigint[], periods bigint[], key_rates bigint[],
      key_periods bigint[])
    RETURNS TABLE (
      id bigint, lane integer, rank bigint, epoch bigint, lost integer, payload bytea, event_payload bytea, checkpoint bytea, record text)
    LANGUAGE plpgsql AS $$
    DECLARE
      token bigint := nextval('taskhost.epoch'); which text; its_key text; most bigint; count bigint; is_limited boolean;
    BEGIN
      FOR i IN 1 .. cardinality(lanes) LOOP
        most := limits[i];
        is_limited := key_runs[i] > 0 OR rates[i] > 0 OR key_rates[i] > 0;
        IF is_limited THEN
          SELECT l.identifier, l.concurrency_key INTO which, its_key FROM taskhost.lane l WHERE l.id = lanes[i];
          PERFORM pg_advisory_xact_lock(hashtextextended('taskhost.limit ' || which, 0));
          IF key_runs[i] > 0 THEN
            most := least(most, key_runs[i] - (
              SELECT count(*) FROM taskhost.claim c JOIN taskhost.request r ON r.id = c.request JOIN taskhost.lane l ON l.id = r.lane
              WHERE NOT c.visiting AND l.identifier = which AND l.concurrency_key = its_key));
          END IF;
          IF rates[i] > 0 THEN most := least(most, taskhost.left_of_rate(which, '', rates[i], periods[i])); END IF;
          IF key_rates[i] > 0 THEN most := least(most, taskhost.left_of_rate(which, its_key, key_rates[i], key_periods[i])); END IF;
          CONTINUE WHEN most <= 0;
        END IF;
        RETURN QUERY WITH taken AS (
          DELETE FROM taskhost.ready WHERE ctid = ANY (ARRAY(
            SELECT q.ctid FROM taskhost.ready q WHERE q.lane = lanes[i]::integer AND q.rank >= hints[i]
            ORDER BY q.rank, q.request LIMIT most FOR UPDATE SKIP LOCKED))
          RETURNING ready.request, ready.rank
        ), owned AS (
          INSERT INTO taskhost.claim (request, incarnation, epoch, since) SELECT t.request, me, token, taskhost.now_ms() FROM taken t
        )
        SELECT r.id, r.lane, t.rank, token, r.lost, r.payload, r.event_payload, r.checkpoint, r.record
        FROM taken t JOIN taskhost.request r ON r.id = t.request ORDER BY t.rank, r.id;
        GET DIAGNOSTICS count = ROW_COUNT;
        IF is_limited AND count > 0 THEN
          IF rates[i] > 0 THEN INSERT INTO taskhost.begun VALUES (which, '', taskhost.now_ms(), count); END IF;
          IF key_rates[i] > 0 THEN INSERT INTO taskhost.begun VALUES (which, its_key, taskhost.now_ms(), count); END IF;
        END IF;
      END LOOP;
    END $$
    """,
  ]

  private static let finishing = [
    // Which of the requests that the host owns somebody has cancelled.
    """
    CREATE OR REPLACE FUNCTION taskhost.cancelled(me uuid) RETURNS TABLE (request bigint) LANGUAGE sql AS $$
      SELECT c.request FROM taskhost.request r JOIN taskhost.claim c ON c.request = r.id WHERE r.stop AND c.incarnation = me
    $$
    """,
    // Cancels a request that a host owns: that host stops it, or its next owner. Returns whether there is one.
    """
    CREATE OR REPLACE FUNCTION taskhost.stop(which bigint) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE taskhost.request r SET stop = true
        WHERE r.id = which AND r.state = 'pending' AND EXISTS (SELECT FROM taskhost.claim c WHERE c.request = which);
      RETURN FOUND;
    END $$
    """,
    // Notes which schedules a host has. Returns the requests of those that no host has any more.
    """
    CREATE OR REPLACE FUNCTION taskhost.declare(name text, identifiers text[], keys text[]) RETURNS TABLE (request bigint)
    LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM taskhost.schedule s WHERE s.host = name
        AND NOT EXISTS (SELECT FROM unnest(identifiers, keys) AS u (i, k) WHERE u.i = s.identifier AND u.k = s.key);
      INSERT INTO taskhost.schedule (identifier, key, host) SELECT u.i, u.k, name FROM unnest(identifiers, keys) AS u (i, k)
        ON CONFLICT DO NOTHING;
      RETURN QUERY SELECT r.id FROM taskhost.request r WHERE r.unique_key LIKE 'config:%' AND r.state <> 'failed' AND NOT r.stop
        AND NOT EXISTS (SELECT FROM taskhost.schedule s WHERE s.identifier = r.identifier AND s.key = r.unique_key);
    END $$
    """,
    // Gives back what the host owns and does not know of: the answer to its claim was lost.
    """
    CREATE OR REPLACE FUNCTION taskhost.give_back_unknown(me uuid, known bigint[]) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE gone bigint[];
    BEGIN
      PERFORM taskhost.hold_lease(me);
      WITH deleted AS (
        DELETE FROM taskhost.claim c WHERE c.incarnation = me AND c.request <> ALL (known) RETURNING c.request
      )
      SELECT array_agg(request) INTO gone FROM deleted;
      RETURN taskhost.put_back(gone);
    END $$
    """,
    // Takes those of these requests that nobody owns, waiting ones and dead letters, to change them. They go back with `finish`. Of a dead
    // letter, `is_held` says whether another request has its unique key.
    """
    CREATE OR REPLACE FUNCTION taskhost.take(me uuid, ids bigint[])
    RETURNS TABLE (
      id bigint, lane integer, rank bigint, epoch bigint, lost integer, payload bytea, event_payload bytea, checkpoint bytea, record text,
      is_held boolean)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE token bigint := nextval('taskhost.epoch');
    BEGIN
      RETURN QUERY WITH wanted AS MATERIALIZED (
        SELECT r.* FROM taskhost.request r WHERE r.id = ANY (ids) ORDER BY r.id FOR UPDATE SKIP LOCKED
      ), soon AS (
        DELETE FROM taskhost.ready q USING wanted w WHERE q.lane = w.lane AND q.rank = w.rank AND q.request = w.id RETURNING q.request
      ), waiting AS (
        DELETE FROM taskhost.later l USING wanted w WHERE l.due = w.due AND l.request = w.id RETURNING l.request
      ), free AS (
        SELECT request FROM soon UNION ALL SELECT request FROM waiting UNION ALL SELECT w.id FROM wanted w WHERE w.state = 'failed'
      ), owned AS (
        INSERT INTO taskhost.claim (request, incarnation, epoch, since, visiting) SELECT f.request, me, token, taskhost.now_ms(), true
        FROM free f ON CONFLICT DO NOTHING RETURNING request
      )
      SELECT w.id, w.lane, w.rank, token, w.lost, w.payload, w.event_payload, w.checkpoint, w.record,
        w.state = 'failed' AND EXISTS (
          SELECT FROM taskhost.request r WHERE r.identifier = w.identifier AND r.unique_key = w.unique_key AND r.state <> 'failed')
      FROM owned JOIN wanted w ON w.id = owned.request ORDER BY w.id;
    END $$
    """,
    // Notes an event for those of these requests that other hosts own: whichever host sees them come back wakes them.
    """
    CREATE OR REPLACE FUNCTION taskhost.raise(me uuid, ids bigint[], name text, content bytea) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE noted bigint;
    BEGIN
      INSERT INTO taskhost.raised (request, event, payload)
      SELECT c.request, name, content FROM taskhost.claim c WHERE c.request = ANY (ids) AND c.incarnation <> me AND NOT c.visiting
      ON CONFLICT (request) DO UPDATE SET payload = coalesce(excluded.payload, raised.payload);
      GET DIAGNOSTICS noted = ROW_COUNT;
      RETURN noted;
    END $$
    """,
    // Requests that nobody owns and whose deadline has passed: they wait for fewer conditions now.
    """
    CREATE OR REPLACE FUNCTION taskhost.late() RETURNS TABLE (request bigint) LANGUAGE sql AS $$
      -- The second condition is that of the index, which is not used otherwise.
      SELECT r.id FROM taskhost.request r WHERE r.deadline <= (SELECT taskhost.now_ms())
        AND r.deadline < 9223372036854775807 AND r.state = 'pending'
        AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.request = r.id) LIMIT 100
    $$
    """,
    """
    CREATE OR REPLACE FUNCTION taskhost.unheard() RETURNS TABLE (request bigint, event text, payload bytea) LANGUAGE sql AS $$
      SELECT e.request, e.event, e.payload FROM taskhost.raised e JOIN taskhost.request r ON r.id = e.request
      WHERE r.state = 'pending' AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.request = e.request)
    $$
    """,
    // Records what became of claimed requests, and returns those that were this host's to decide. The others were fenced. A payload
    // is NULL if it has not changed.
    """
    CREATE OR REPLACE FUNCTION taskhost.finish(
      me uuid, ids bigint[], states text[], lanes bigint[], dues bigint[], ranks bigint[], events text[],
      deadlines bigint[], payloads bytea[], event_payloads bytea[], checkpoints bytea[], records text[], run_ids text[], run_requests bigint[], outcomes text[], runs text[])
    RETURNS TABLE (request bigint) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE now bigint := taskhost.now_ms();
    BEGIN
      RETURN QUERY WITH told AS (
        SELECT * FROM unnest(ids, states, lanes, dues, ranks, events, deadlines, payloads, event_payloads, checkpoints, records)
          AS u (id, state, lane, due, rank, event, deadline, payload, event_payload, checkpoint, record)
      ), mine AS (
        -- CASE hides from the planner how many claims it has seen: where it expects one, it would compare each run with each of these.
        DELETE FROM taskhost.claim c USING told WHERE c.request = told.id AND CASE WHEN c.incarnation = me THEN true ELSE false END
        RETURNING c.request, c.epoch, c.visiting
      ), kept AS (
        SELECT told.*, mine.visiting FROM told JOIN mine ON mine.request = told.id
      ), gone AS (
        DELETE FROM taskhost.request r USING kept WHERE r.id = kept.id AND kept.state IN ('succeeded', 'cancelled')
        RETURNING r.id, r.identifier, kept.state, r.payload, kept.record
      ), history AS (
        INSERT INTO taskhost.ended (id, identifier, state, ended, payload, record)
        SELECT id, identifier, state, now, payload, record FROM gone
      ), back AS (
        UPDATE taskhost.request r
        SET state = kept.state, lane = kept.lane, due = kept.due, rank = kept.rank, event = kept.event, deadline = kept.deadline,
          checkpoint = kept.checkpoint,
          record = kept.record, payload = coalesce(kept.payload, r.payload), event_payload = kept.event_payload,
          lost = CASE WHEN kept.visiting THEN r.lost ELSE 0 END
        FROM kept WHERE r.id = kept.id AND kept.state IN ('pending', 'failed')
        RETURNING r.id, r.state, r.lane, r.rank, r.due
      ), soon AS (
        INSERT INTO taskhost.ready (lane, rank, request) SELECT lane, rank, id FROM back WHERE state = 'pending' AND due <= now
      ), waiting AS (
        INSERT INTO taskhost.later (due, request) SELECT due, id FROM back WHERE state = 'pending' AND due > now
      ), runs AS (
        INSERT INTO taskhost.run (id, request, identifier, outcome, ended, incarnation, epoch, record)
        SELECT u.id, u.request, r.identifier, u.outcome, now, me, mine.epoch, u.record
        FROM unnest(run_ids, run_requests, outcomes, runs) AS u (id, request, outcome, record)
        JOIN mine ON mine.request = u.request JOIN taskhost.request r ON r.id = u.request
      )
      SELECT mine.request FROM mine;
    END $$
    """,
  ]

  private static let submitting = [
    // All or none. The ids come in the order of the requests.
    """
    CREATE OR REPLACE FUNCTION taskhost.enqueue(
      identifiers text[], lanes bigint[], dues bigint[], ranks bigint[], events text[], deadlines bigint[], payloads bytea[],
      records text[])
    RETURNS TABLE (id bigint) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE now bigint := taskhost.now_ms();
    BEGIN
      RETURN QUERY WITH given AS MATERIALIZED (
        SELECT taskhost.new_id() AS id, u.* FROM unnest(identifiers, lanes, dues, ranks, events, deadlines, payloads, records)
          WITH ORDINALITY AS u (identifier, lane, due, rank, event, deadline, payload, record, place)
      ), requests AS (
        INSERT INTO taskhost.request (id, identifier, state, lane, due, rank, event, deadline, payload, record)
        SELECT id, identifier, 'pending', lane, due, rank, event, deadline, payload, record FROM given
      ), soon AS (
        INSERT INTO taskhost.ready (lane, rank, request) SELECT lane, rank, id FROM given WHERE due <= now
      ), waiting AS (
        INSERT INTO taskhost.later (due, request) SELECT due, id FROM given WHERE due > now
      )
      SELECT given.id FROM given ORDER BY place;
    END $$
    """,
    // One request that names itself, by a unique key or an idempotency key. `known` is: new, held (its unique key is), repeated, or
    // different (the idempotency key stands for another submission). `keeps` says whether that is all if its key is held; otherwise the
    // host goes on with the holder, and nothing has happened here.
    """
    CREATE OR REPLACE FUNCTION taskhost.enqueue_named(
      task text, lane_id bigint, due_at bigint, its_rank bigint, its_event text, its_deadline bigint, content bytea, its_record text,
      named text, idempotent text, print bigint, drawn bigint, keeps boolean)
    RETURNS TABLE (id bigint, known text) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      now bigint := taskhost.now_ms();
      made bigint := coalesce(drawn, taskhost.new_id());
      before record;
    BEGIN
      IF idempotent IS NOT NULL THEN
        INSERT INTO taskhost.idempotency (key, fingerprint, request, since) VALUES (idempotent, print, made, now) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
          SELECT i.fingerprint, i.request INTO before FROM taskhost.idempotency i WHERE i.key = idempotent;
          RETURN QUERY SELECT before.request, CASE WHEN before.fingerprint = print THEN 'repeated' ELSE 'different' END;
          RETURN;
        END IF;
      END IF;
      LOOP
        INSERT INTO taskhost.request (id, identifier, state, lane, due, rank, unique_key, event, deadline, payload, record)
          VALUES (made, task, 'pending', lane_id, due_at, its_rank, named, its_event, its_deadline, content, its_record)
          ON CONFLICT (identifier, unique_key) WHERE unique_key IS NOT NULL AND state <> 'failed' DO NOTHING;
        IF FOUND THEN
          IF due_at <= now THEN INSERT INTO taskhost.ready (lane, rank, request) VALUES (lane_id, its_rank, made);
          ELSE INSERT INTO taskhost.later (due, request) VALUES (due_at, made); END IF;
          RETURN QUERY SELECT made, 'new'::text;
          RETURN;
        END IF;
        SELECT r.id INTO before FROM taskhost.request r WHERE r.identifier = task AND r.unique_key = named AND r.state <> 'failed';
        IF FOUND THEN
          IF keeps THEN UPDATE taskhost.idempotency i SET request = before.id WHERE i.key = idempotent;
          ELSE DELETE FROM taskhost.idempotency i WHERE i.key = idempotent; END IF;
          RETURN QUERY SELECT before.id, 'held'::text;
          RETURN;
        END IF;
      END LOOP;
    END $$
    """,
  ]
}
