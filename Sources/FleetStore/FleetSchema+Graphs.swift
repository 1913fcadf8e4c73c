// Requests that wait for others. The database knows which one waits for which, and how those ended; what becomes of the ones that wait, a
// host decides that takes them.

extension FleetSchema {
  static let graphTables = [
    // Of requests that live or are dead letters. `output` is NULL until a host has looked at the end of the predecessor.
    """
    CREATE TABLE taskhost.edge (
      request bigint NOT NULL, predecessor bigint NOT NULL, place integer NOT NULL, on_failure text NOT NULL, ended text, output bytea,
      PRIMARY KEY (request, predecessor))
    """,
    "CREATE INDEX edge_open ON taskhost.edge (predecessor) WHERE ended IS NULL",
    "CREATE INDEX edge_failed ON taskhost.edge (predecessor) WHERE ended = 'failed'",
    // Blocked requests with a predecessor that has ended since a host took them last.
    "CREATE TABLE taskhost.undecided (request bigint PRIMARY KEY)",
    // Requests that ended without a run, for those that wait for their ends at other hosts.
    "CREATE TABLE taskhost.told (request bigint PRIMARY KEY, at bigint NOT NULL, incarnation uuid NOT NULL)",
    "CREATE INDEX told_at ON taskhost.told (at)",
    // Unique keys that are held until a time, whether or not the request lives.
    """
    CREATE TABLE taskhost.unique_window (
      identifier text, key text, request bigint NOT NULL, until bigint NOT NULL, PRIMARY KEY (identifier, key))
    """,
  ]

  static let graphs = [tell, settleEdges, edgesOf, follow, checkFollowed, added, rekey, hold, failedBecause, leadingTo]

  /// Part of ``finish``: notes which of these requests have ended without a run.
  private static let tell = """
    CREATE OR REPLACE FUNCTION taskhost.tell(me uuid, ids bigint[], states text[], with_runs bigint[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO taskhost.told (request, at, incarnation)
        SELECT u.id, taskhost.now_ms(), me FROM unnest(ids, states) AS u (id, state)
        WHERE u.state IN ('succeeded', 'failed', 'cancelled') AND u.id <> ALL (with_runs) ORDER BY u.id
        ON CONFLICT (request) DO UPDATE SET at = excluded.at, incarnation = excluded.incarnation;
    END $$
    """

  /// Part of ``finish``: notes the ends of those of these requests that have ended, for those that wait for them. All who write edges of
  /// several requests lock them in one order first.
  private static let settleEdges = """
    CREATE OR REPLACE FUNCTION taskhost.settle_edges(ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF NOT EXISTS (SELECT FROM taskhost.edge) THEN RETURN; END IF;
      PERFORM FROM taskhost.edge e WHERE e.request = ANY (ids) OR e.predecessor = ANY (ids) AND e.ended IS NULL
        ORDER BY e.request, e.predecessor FOR UPDATE;
      IF NOT FOUND THEN RETURN; END IF;
      DELETE FROM taskhost.edge e WHERE e.request = ANY (ids) AND NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = e.request);
      DELETE FROM taskhost.undecided u WHERE u.request = ANY (ids) AND NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = u.request);
      WITH over AS (
        -- Not those that live: they were another host's to decide, or go on.
        SELECT p.id, coalesce(r.state, (SELECT e.state FROM taskhost.ended e WHERE e.id = p.id LIMIT 1)) AS state
        FROM unnest(ids) AS p (id) LEFT JOIN taskhost.request r ON r.id = p.id WHERE r.id IS NULL OR r.state = 'failed'
      ), settled AS (
        UPDATE taskhost.edge e SET ended = o.state FROM over o WHERE e.predecessor = o.id AND e.ended IS NULL RETURNING e.request
      )
      -- Whoever takes a request at this moment waits for this transaction, and sees its edges after that.
      INSERT INTO taskhost.undecided (request)
        SELECT DISTINCT s.request FROM settled s JOIN taskhost.request r ON r.id = s.request WHERE r.state = 'blocked' ORDER BY s.request
        ON CONFLICT (request) DO UPDATE SET request = excluded.request;
    END $$
    """

  /// The edges of requests that the host has taken. What ends from now on is noted anew. Of requests that wait for another one than those of
  /// `visiting`, what was handed on is left out, since nobody needs it yet and it may be much: it is empty here, and ``follow`` leaves it as it is.
  /// With NULL, all is there.
  private static let edgesOf = """
    CREATE OR REPLACE FUNCTION taskhost.edges_of(me uuid, ids bigint[], visiting bigint[] DEFAULT NULL)
    RETURNS TABLE (request bigint, predecessor bigint, on_failure text, ended text, output bytea) LANGUAGE plpgsql AS $$
    #variable_conflict use_column
    BEGIN
      DELETE FROM taskhost.undecided u USING taskhost.claim c WHERE u.request = ANY (ids) AND c.request = u.request AND c.incarnation = me;
      RETURN QUERY WITH waiting AS (
          SELECT DISTINCT e.request FROM taskhost.edge e WHERE e.request = ANY (ids) AND e.ended IS NULL AND e.predecessor <> ALL (visiting))
        SELECT e.request, e.predecessor, e.on_failure, e.ended, CASE
            WHEN e.output IS NULL OR NOT EXISTS (SELECT FROM waiting w WHERE w.request = e.request) THEN e.output ELSE '' END
        FROM taskhost.edge e WHERE e.request = ANY (ids) ORDER BY e.request, e.place;
    END $$
    """

  /// Writes edges, each request's all. Whoever ends a predecessor that is open here waits for this transaction, and finds the edge; if one
  /// has ended already, nothing is done.
  private static let follow = """
    CREATE OR REPLACE FUNCTION taskhost.follow(requests bigint[], predecessors bigint[], policies text[], ends text[], outputs bytea[])
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE open bigint[]; live bigint;
    BEGIN
      SELECT array_agg(DISTINCT u.p) INTO open FROM unnest(predecessors, ends) AS u (p, e) WHERE u.e IS NULL;
      BEGIN
        SELECT count(*) INTO live FROM (
          SELECT FROM taskhost.request r WHERE r.id = ANY (open) AND r.state <> 'failed' AND NOT (\(repeats)) FOR SHARE NOWAIT) AS l;
      EXCEPTION WHEN lock_not_available THEN live := 0;
      END;
      IF live < cardinality(open) THEN
        RAISE EXCEPTION 'a request that another one waits for has just changed' USING ERRCODE = 'TH002';
      END IF;
      INSERT INTO taskhost.edge (request, predecessor, place, on_failure, ended, output)
        SELECT u.r, u.p, u.place, u.f, u.e, u.o FROM unnest(requests, predecessors, policies, ends, outputs) WITH ORDINALITY
          AS u (r, p, f, e, o, place) ORDER BY u.r, u.p
        ON CONFLICT (request, predecessor) DO UPDATE
          SET place = excluded.place, on_failure = excluded.on_failure, ended = excluded.ended,
            output = CASE WHEN excluded.ended = edge.ended THEN coalesce(edge.output, excluded.output) ELSE excluded.output END;
    END $$
    """

  /// Refuses that these requests begin to repeat, if others wait for the end of one. Until the transaction ends, none can begin to wait.
  private static let checkFollowed = """
    CREATE OR REPLACE FUNCTION taskhost.check_followed(ids bigint[]) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE follower bigint; followed bigint;
    BEGIN
      PERFORM FROM taskhost.request r WHERE r.id = ANY (ids) AND NOT (\(repeats)) ORDER BY r.id FOR NO KEY UPDATE;
      IF NOT FOUND THEN RETURN; END IF;
      SELECT e.request, r.id INTO follower, followed FROM taskhost.edge e JOIN taskhost.request r ON r.id = e.predecessor
        WHERE e.predecessor = ANY (ids) AND e.ended IS NULL AND NOT (\(repeats)) ORDER BY e.request LIMIT 1;
      IF FOUND THEN
        RAISE EXCEPTION '% waits for request % to end, so it cannot repeat: cancel % first', taskhost.id_text(follower),
          taskhost.id_text(followed), taskhost.id_text(follower) USING ERRCODE = 'TH003';
      END IF;
    END $$
    """

  /// Ends the addition of requests with drawn ids: all of them are there, or nothing is done. Those of `blocked` wait for others.
  private static let added = """
    CREATE OR REPLACE FUNCTION taskhost.added(ids bigint[], blocked bigint[]) RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      IF (SELECT count(*) FROM taskhost.request r WHERE r.id = ANY (ids)) < cardinality(ids) THEN
        RAISE EXCEPTION 'another submission with the same key was faster' USING ERRCODE = 'TH002';
      END IF;
      DELETE FROM taskhost.ready q USING taskhost.request r
        WHERE r.id = ANY (blocked) AND q.lane = r.lane AND q.rank = r.rank AND q.request = r.id;
      DELETE FROM taskhost.later l USING taskhost.request r WHERE r.id = ANY (blocked) AND l.due = r.due AND l.request = r.id;
      UPDATE taskhost.request r SET state = 'blocked' WHERE r.id = ANY (blocked);
    END $$
    """

  /// Gives requests other unique keys than they had; also one that a host runs loses its key so. If one is gone, nothing is done.
  private static let rekey = """
    CREATE OR REPLACE FUNCTION taskhost.rekey(ids bigint[], keys text[]) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE changed bigint; more bigint;
    BEGIN
      UPDATE taskhost.request r SET unique_key = NULL FROM unnest(ids, keys) AS u (id, key) WHERE r.id = u.id AND u.key IS NULL;
      GET DIAGNOSTICS changed = ROW_COUNT;
      UPDATE taskhost.request r SET unique_key = u.key FROM unnest(ids, keys) AS u (id, key) WHERE r.id = u.id AND u.key IS NOT NULL;
      GET DIAGNOSTICS more = ROW_COUNT;
      IF changed + more < cardinality(ids) THEN
        RAISE EXCEPTION 'the request that held the unique key has just changed' USING ERRCODE = 'TH002';
      END IF;
    END $$
    """

  /// Holds unique keys for so many milliseconds; 0 lets them go.
  private static let hold = """
    CREATE OR REPLACE FUNCTION taskhost.hold(identifiers text[], keys text[], requests bigint[], lengths bigint[]) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO taskhost.unique_window (identifier, key, request, until)
        SELECT u.i, u.k, u.r, taskhost.now_ms() + u.l FROM unnest(identifiers, keys, requests, lengths) AS u (i, k, r, l) ORDER BY u.i, u.k
        ON CONFLICT (identifier, key) DO UPDATE SET request = excluded.request, until = excluded.until;
    END $$
    """

  /// These requests, those that failed or were let go on because of them, those because of these, and so on.
  private static let failedBecause = """
    CREATE OR REPLACE FUNCTION taskhost.failed_because(ids bigint[]) RETURNS TABLE (request bigint) LANGUAGE sql AS $$
      WITH RECURSIVE down AS (
        SELECT u.id FROM unnest(ids) AS u (id)
        UNION SELECT e.request FROM taskhost.edge e JOIN down d ON e.predecessor = d.id WHERE e.ended = 'failed'
      ) SELECT d.id FROM down d LIMIT 10000
    $$
    """

  /// The predecessors of these requests, and of a failed one its own, and so on.
  private static let leadingTo = """
    CREATE OR REPLACE FUNCTION taskhost.leading_to(ids bigint[]) RETURNS TABLE (request bigint) LANGUAGE sql AS $$
      WITH RECURSIVE up AS (
        SELECT u.id, 0 AS far FROM unnest(ids) AS u (id)
        UNION SELECT e.predecessor, up.far + 1 FROM taskhost.edge e JOIN up ON e.request = up.id
          WHERE up.far < 100 AND (up.far = 0 OR EXISTS (SELECT FROM taskhost.request r WHERE r.id = up.id AND r.state = 'failed'))
      ) SELECT DISTINCT up.id FROM up WHERE up.far > 0
    $$
    """
}
