import TaskModel

// How requests move: ends, changes and submissions.

extension FleetSchema {
  static let lanes = [
    // For operators: takes away a request that no host can read. What waits for it learns that it was cancelled, and its keys are free.
    """
    CREATE OR REPLACE FUNCTION taskhost.remove(its_id bigint) RETURNS boolean LANGUAGE plpgsql AS $$
    BEGIN
      DELETE FROM taskhost.claim c WHERE c.request = its_id;
      WITH gone AS (DELETE FROM taskhost.request r WHERE r.id = its_id RETURNING r.id, r.identifier, r.record)
      INSERT INTO taskhost.ended (id, identifier, state, ended, payload, record)
        SELECT id, identifier, 'cancelled', taskhost.now_ms(), '', record FROM gone;
      IF NOT FOUND THEN RETURN false; END IF;
      DELETE FROM taskhost.ready w WHERE w.request = its_id;
      DELETE FROM taskhost.later w WHERE w.request = its_id;
      DELETE FROM taskhost.idempotency i WHERE i.request = its_id;
      DELETE FROM taskhost.unique_window w WHERE w.request = its_id;
      PERFORM taskhost.settle_edges(ARRAY[its_id]);
      RETURN true;
    END $$
    """,
    // Lets requests that nobody owns any more be found again. Returns how many wait.
    """
    CREATE OR REPLACE FUNCTION taskhost.put_back(ids bigint[]) RETURNS bigint LANGUAGE plpgsql \(indexed) AS $$
    DECLARE waiting bigint; now bigint := taskhost.now_ms();
    BEGIN
      WITH back AS (
        SELECT r.id, r.lane, r.rank, r.due FROM taskhost.request r WHERE r.id = ANY (ids) AND r.state = 'pending'
      ), soon AS (
        INSERT INTO taskhost.ready (lane, rank, request) SELECT lane, rank, id FROM back WHERE due <= now RETURNING 1
      ), later AS (
        INSERT INTO taskhost.later (due, request) SELECT due, id FROM back WHERE due > now RETURNING 1
      )
      SELECT (SELECT count(*) FROM soon) + (SELECT count(*) FROM later) INTO waiting;
      -- Whoever had one that waits for others may have been about to decide.
      INSERT INTO taskhost.undecided (request)
        SELECT r.id FROM taskhost.request r WHERE r.id = ANY (ids) AND r.state = 'blocked' ORDER BY r.id ON CONFLICT DO NOTHING;
      RETURN waiting;
    END $$
    """,
    // Pending requests that no host would find, because somebody has deleted rows: of a sample of `share` percent. First by the indexes; only
    // of those that are not where they should be, whether they are anywhere.
    """
    CREATE OR REPLACE FUNCTION taskhost.strays(share double precision) RETURNS TABLE (request bigint) LANGUAGE sql AS $$
      SELECT s.id FROM (
        SELECT r.id FROM taskhost.request r TABLESAMPLE SYSTEM (share) WHERE r.state = 'pending'
          AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.request = r.id)
          AND NOT EXISTS (SELECT FROM taskhost.ready q WHERE q.lane = r.lane AND q.rank = r.rank AND q.request = r.id)
          AND NOT EXISTS (SELECT FROM taskhost.later l WHERE l.due = r.due AND l.request = r.id) OFFSET 0) s
      WHERE NOT EXISTS (SELECT FROM taskhost.ready q WHERE q.request = s.id)
        AND NOT EXISTS (SELECT FROM taskhost.later l WHERE l.request = s.id)
    $$
    """,
    """
    CREATE OR REPLACE FUNCTION taskhost.lane_of(which text, needs text, its_key text) RETURNS integer LANGUAGE plpgsql \(indexed) AS $$
    DECLARE found integer;
    BEGIN
      LOOP
        found := (\(lane(of: "which", needing: "needs")));
        IF found IS NOT NULL THEN RETURN found; END IF;
        INSERT INTO taskhost.lane (identifier, gates, concurrency_key) VALUES (which, needs, its_key) ON CONFLICT DO NOTHING;
      END LOOP;
    END $$
    """,
  ]

  /// The number of the lane that new requests with these needs get, if it is there. The expressions are those of the index.
  static func lane(of identifier: String, needing gates: String) -> String {
    "SELECT l.id FROM taskhost.lane l WHERE l.identifier || ' ' || l.gates = \(identifier) || ' ' || \(gates) AND l.retired IS NULL"
  }

  /// The functions that each look calls are in plpgsql, which keeps their plans: a function in SQL is planned anew at each call.
  static let finishing = [
    // Which of the requests that the host owns, or nobody, somebody has cancelled while a host had them.
    """
    CREATE OR REPLACE FUNCTION taskhost.cancelled(me uuid) RETURNS TABLE (request bigint) LANGUAGE plpgsql AS $$
    BEGIN
      RETURN QUERY SELECT r.id FROM taskhost.request r LEFT JOIN taskhost.claim c ON c.request = r.id
        WHERE r.stop AND (c.incarnation = me OR c.request IS NULL AND r.state IN ('pending', 'blocked')) LIMIT 1000;
    END $$
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
    LANGUAGE plpgsql \(indexed) AS $$
    BEGIN
      DELETE FROM taskhost.schedule s WHERE s.host = name
        AND NOT EXISTS (SELECT FROM unnest(identifiers, keys) AS u (i, k) WHERE u.i = s.identifier AND u.k = s.key);
      INSERT INTO taskhost.schedule (identifier, key, host) SELECT u.i, u.k, name FROM unnest(identifiers, keys) AS u (i, k)
        ON CONFLICT DO NOTHING;
      -- Only a schedule's key has the identifier in it; others that begin like one are anybody's.
      RETURN QUERY SELECT r.id FROM taskhost.request r WHERE r.unique_key LIKE 'config:%' AND r.state <> 'failed' AND NOT r.stop
        AND (r.unique_key = 'config:' || r.identifier OR starts_with(r.unique_key, 'config:' || r.identifier || '/'))
        AND NOT EXISTS (SELECT FROM taskhost.schedule s WHERE s.identifier = r.identifier AND s.key = r.unique_key);
    END $$
    """,
    // Gives back what the host owns and does not know of: the answer to its claim was lost.
    """
    CREATE OR REPLACE FUNCTION taskhost.give_back_unknown(me uuid, known bigint[]) RETURNS bigint LANGUAGE plpgsql \(indexed) AS $$
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
    // Takes those of these requests that nobody owns, waiting and blocked ones and dead letters, to change them. They go back with `finish`. Of a dead
    // letter, `is_held` says whether another request has its unique key.
    """
    CREATE OR REPLACE FUNCTION taskhost.take(me uuid, ids bigint[])
    RETURNS TABLE (
      id bigint, lane integer, rank bigint, epoch bigint, lost integer, payload bytea, event_payload bytea, checkpoint bytea, record text,
      is_held boolean)
    LANGUAGE plpgsql \(indexed) AS $$
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
        SELECT request FROM soon UNION ALL SELECT request FROM waiting UNION ALL SELECT w.id FROM wanted w WHERE w.state IN ('failed', 'blocked')
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
    // Notes an event for those of these requests that somebody owns, and returns them: whichever host sees them come back wakes them.
    """
    CREATE OR REPLACE FUNCTION taskhost.note_event(ids bigint[], name text, content bytea) RETURNS TABLE (request bigint)
    LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    BEGIN
      RETURN QUERY INSERT INTO taskhost.raised (request, event, payload)
      SELECT c.request, name, content FROM taskhost.claim c WHERE c.request = ANY (ids) ORDER BY c.request
      -- It may wait for another event by now than when the last one came.
      ON CONFLICT (request) DO UPDATE SET event = excluded.event, payload = CASE
        WHEN raised.event = excluded.event THEN coalesce(excluded.payload, raised.payload) ELSE excluded.payload END
      RETURNING raised.request;
    END $$
    """,
    // Requests that nobody owns and whose deadline has passed: they need less now.
    """
    CREATE OR REPLACE FUNCTION taskhost.late() RETURNS TABLE (request bigint) LANGUAGE plpgsql AS $$
    BEGIN
      RETURN QUERY SELECT r.id FROM taskhost.request r WHERE r.deadline <= (SELECT taskhost.now_ms()) AND \(mayBeLate)
        AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.request = r.id) LIMIT 100;
    END $$
    """,
    // What came for requests while hosts had them: events, and, without an event, ends of those that they wait for.
    """
    CREATE OR REPLACE FUNCTION taskhost.unheard() RETURNS TABLE (request bigint, event text, payload bytea) LANGUAGE plpgsql AS $$
    BEGIN
      RETURN QUERY (SELECT e.request, e.event, e.payload FROM taskhost.raised e JOIN taskhost.request r ON r.id = e.request
      WHERE r.state = 'pending' AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.request = e.request) LIMIT \(FleetExchange.mostUnheard))
      UNION ALL (SELECT u.request, NULL, NULL FROM taskhost.undecided u JOIN taskhost.request r ON r.id = u.request
      WHERE r.state = 'blocked' AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.request = u.request) LIMIT \(FleetExchange.mostUnheard));
    END $$
    """,
    // Records what became of claimed requests, and returns those that were this host's to decide. The others were fenced. A payload
    // is NULL if it has not changed. An end is that of the claim with its epoch; 0 is whichever claim the host has.
    """
    CREATE OR REPLACE FUNCTION taskhost.finish(
      me uuid, ids bigint[], states text[], lanes bigint[], dues bigint[], ranks bigint[], events text[],
      deadlines bigint[], payloads bytea[], event_payloads bytea[], checkpoints bytea[], records text[], run_ids text[], run_requests bigint[], outcomes text[], runs text[],
      epochs bigint[] DEFAULT NULL)
    RETURNS TABLE (request bigint) LANGUAGE plpgsql \(indexed) AS $$
    #variable_conflict use_column
    DECLARE now bigint := taskhost.now_ms();
    BEGIN
      RETURN QUERY WITH kept AS (
        -- CASE hides from the planner how many claims it has seen: where it expects one, it would compare each run with each of these.
        DELETE FROM taskhost.claim c
          USING unnest(ids, states, lanes, dues, ranks, events, deadlines, payloads, event_payloads, checkpoints, records, epochs)
            AS told (id, state, lane, due, rank, event, deadline, payload, event_payload, checkpoint, record, given_epoch)
          WHERE c.request = told.id
            AND CASE WHEN c.incarnation = me AND coalesce(nullif(told.given_epoch, 0), c.epoch) = c.epoch THEN true ELSE false END
        RETURNING told.*, c.epoch, c.visiting
      ), gone AS (
        DELETE FROM taskhost.request r USING kept WHERE r.id = kept.id AND kept.state IN ('succeeded', 'cancelled')
        RETURNING r.id, r.identifier, kept.epoch, kept.state, r.payload, kept.record
      ), history AS (
        INSERT INTO taskhost.ended (id, identifier, state, ended, payload, record)
        SELECT id, identifier, state, now, payload, record FROM gone
      ), back AS (
        UPDATE taskhost.request r
        SET state = kept.state, lane = kept.lane, due = kept.due, rank = kept.rank, event = kept.event, deadline = kept.deadline,
          checkpoint = kept.checkpoint,
          record = kept.record, payload = coalesce(kept.payload, r.payload), event_payload = kept.event_payload,
          lost = CASE WHEN kept.visiting THEN r.lost ELSE 0 END, stop = r.stop AND kept.state <> 'failed'
        FROM kept WHERE r.id = kept.id AND kept.state IN ('pending', 'blocked', 'failed')
        RETURNING r.id, r.identifier, kept.epoch, r.state, r.lane, r.rank, r.due
      ), soon AS (
        INSERT INTO taskhost.ready (lane, rank, request) SELECT lane, rank, id FROM back WHERE state = 'pending' AND due <= now
      ), waiting AS (
        INSERT INTO taskhost.later (due, request) SELECT due, id FROM back WHERE state = 'pending' AND due > now
      ), runs AS (
        INSERT INTO taskhost.run (id, request, identifier, outcome, ended, incarnation, epoch, record)
        SELECT u.id, u.request, moved.identifier, u.outcome, now, me, moved.epoch, u.record
        FROM unnest(run_ids, run_requests, outcomes, runs) AS u (id, request, outcome, record)
        JOIN (SELECT id, identifier, epoch FROM gone UNION ALL SELECT id, identifier, epoch FROM back) moved ON moved.id = u.request
      )
      SELECT kept.id FROM kept;
      PERFORM taskhost.settle_edges(ids);
      IF cardinality(ids) > cardinality(run_requests) THEN PERFORM taskhost.tell(me, ids, states, run_requests); END IF;
    END $$
    """,
  ]

  static let submitting = [
    // How many percent of the requests can be read in some milliseconds.
    """
    CREATE OR REPLACE FUNCTION taskhost.sample_share() RETURNS double precision LANGUAGE sql AS $$
      SELECT least(100, 200000 / greatest(1, pg_relation_size('taskhost.request') / current_setting('block_size')::double precision))
    $$
    """,
    // How many requests of an identifier live. No index has that: it would cost each of them more than this. Of a large table, a sample is counted.
    """
    CREATE OR REPLACE FUNCTION taskhost.live_count(which text) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE share double precision := taskhost.sample_share();
    BEGIN
      RETURN (SELECT (100 * count(*) / share)::bigint FROM taskhost.request r TABLESAMPLE SYSTEM (share)
        WHERE r.identifier = which AND r.state <> 'failed');
    END $$
    """,
    // All or none. The ids come in the order of the requests. Those that are due a while after their submission have its time in
    // `submitted`: a host that has not learned yet that the database's clock was set back is ahead of it. `repeating` has the places of those
    // that repeat, from 1 on.
    """
    CREATE OR REPLACE FUNCTION taskhost.enqueue(
      identifiers text[], lanes bigint[], dues bigint[], ranks bigint[], events text[], deadlines bigint[], payloads bytea[],
      records text[], submitted bigint[] DEFAULT NULL, repeating bigint[] DEFAULT '{}')
    RETURNS TABLE (id bigint) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE now bigint := taskhost.now_ms();
    BEGIN
      RETURN QUERY WITH given AS MATERIALIZED (
        SELECT taskhost.new_id() AS id, u.identifier, u.lane, u.due - a.lead AS due, u.rank - a.lead AS rank, u.event, u.deadline,
          u.payload, u.record, u.place
        FROM unnest(identifiers, lanes, dues, ranks, events, deadlines, payloads, records, submitted)
          WITH ORDINALITY AS u (identifier, lane, due, rank, event, deadline, payload, record, submitted, place),
          LATERAL (SELECT greatest(0, u.submitted - now) AS lead) a
      ), requests AS (
        INSERT INTO taskhost.request (id, identifier, state, lane, due, rank, event, deadline, payload, record)
        SELECT id, identifier, 'pending', lane, due, rank, event, deadline, payload, record FROM given
      ), soon AS (
        INSERT INTO taskhost.ready (lane, rank, request) SELECT lane, rank, id FROM given WHERE due <= now
      ), waiting AS (
        INSERT INTO taskhost.later (due, request) SELECT due, id FROM given WHERE due > now
      ), again AS (
        INSERT INTO taskhost.repeating (request, identifier) SELECT id, identifier FROM given WHERE place = ANY (repeating)
      )
      SELECT given.id FROM given ORDER BY place;
    END $$
    """,
    // One request that names itself, by a unique key or an idempotency key. `known` is: new, held (its unique key is), repeated, or
    // different (the idempotency key stands for another submission). `keeps` says whether that is all if its key is held; otherwise the
    // host goes on with the holder, and nothing has happened here. `told` says whether hosts are told of it; if not, the first one that
    // looks finds that it has become due, and tells the others. `submitted` is as in `enqueue`. With
    // `whole`, what is different fails the transaction, which adds others too.
    """
    CREATE OR REPLACE FUNCTION taskhost.enqueue_named(
      task text, lane_id bigint, due_at bigint, its_rank bigint, its_event text, its_deadline bigint, content bytea, its_record text,
      named text, idempotent text, print bigint, drawn bigint, keeps boolean, told boolean, submitted bigint DEFAULT NULL,
      repeats boolean DEFAULT false, whole boolean DEFAULT false)
    RETURNS TABLE (id bigint, known text) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    DECLARE
      now bigint := taskhost.now_ms();
      lead bigint := greatest(0, submitted - now);
      made bigint := coalesce(drawn, taskhost.new_id());
      before record;
      holder bigint;
    BEGIN
      IF idempotent IS NOT NULL THEN
        INSERT INTO taskhost.idempotency (key, fingerprint, request, since) VALUES (idempotent, print, made, now) ON CONFLICT DO NOTHING;
        IF NOT FOUND THEN
          SELECT i.fingerprint, i.request INTO before FROM taskhost.idempotency i WHERE i.key = idempotent;
          IF whole AND before.fingerprint <> print THEN
            RAISE EXCEPTION 'the idempotency key "%" was used for another submission', idempotent USING ERRCODE = 'TH002';
          END IF;
          RETURN QUERY SELECT before.request, CASE WHEN before.fingerprint = print THEN 'repeated' ELSE 'different' END;
          RETURN;
        END IF;
      END IF;
      LOOP
        holder := NULL;
        -- What has ended may still hold the key. A host that adds a request with a drawn id has looked at that.
        IF named IS NOT NULL AND drawn IS NULL THEN
          SELECT w.request INTO holder FROM taskhost.unique_window w
            WHERE w.identifier = task AND w.key = named AND w.until > taskhost.now_ms()
              AND NOT EXISTS (SELECT FROM taskhost.request r WHERE r.identifier = task AND r.unique_key = named AND r.state <> 'failed');
        END IF;
        IF holder IS NULL THEN
          INSERT INTO taskhost.request (id, identifier, state, lane, due, rank, unique_key, event, deadline, payload, record)
            VALUES (made, task, 'pending', lane_id, due_at - lead, its_rank - lead, named, its_event, its_deadline, content, its_record)
            ON CONFLICT (identifier, unique_key) WHERE unique_key IS NOT NULL AND state <> 'failed' DO NOTHING;
          IF FOUND THEN
            -- Its holder may have ended since, and keep the key.
            IF named IS NOT NULL AND drawn IS NULL AND EXISTS (
                SELECT FROM taskhost.unique_window w WHERE w.identifier = task AND w.key = named AND w.until > taskhost.now_ms()) THEN
              DELETE FROM taskhost.request r WHERE r.id = made;
              CONTINUE;
            END IF;
            IF due_at - lead <= now AND told THEN INSERT INTO taskhost.ready (lane, rank, request) VALUES (lane_id, its_rank - lead, made);
            ELSE INSERT INTO taskhost.later (due, request) VALUES (due_at - lead, made); END IF;
            IF repeats THEN INSERT INTO taskhost.repeating (request, identifier) VALUES (made, task); END IF;
            RETURN QUERY SELECT made, 'new'::text;
            RETURN;
          END IF;
          SELECT r.id INTO holder FROM taskhost.request r WHERE r.identifier = task AND r.unique_key = named AND r.state <> 'failed';
          -- It has just ended.
          CONTINUE WHEN NOT FOUND;
        END IF;
        IF keeps THEN UPDATE taskhost.idempotency i SET request = holder WHERE i.key = idempotent;
        ELSE DELETE FROM taskhost.idempotency i WHERE i.key = idempotent; END IF;
        RETURN QUERY SELECT holder, 'held'::text;
        RETURN;
      END LOOP;
    END $$
    """,
  ]
}
