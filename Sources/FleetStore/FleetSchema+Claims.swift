import TaskModel

// How hosts find what they could begin, and claim it.

extension FleetSchema {
  /// How many bytes the payloads and the checkpoint of a request have, see ``ClaimedRequest/bytes``. It reads none of them.
  static func bytes(of request: String) -> String {
    "octet_length(\(request).payload) + coalesce(octet_length(\(request).event_payload), 0) + coalesce(octet_length(\(request).checkpoint), 0)"
  }

  /// How many ranks of all lanes of a group are compared at most, besides the first one of each.
  private static let ranksCompared = 4000

  /// The most requests of a claim that are not weighed.
  private static let fewUnweighed = 16

  /// Whether a lane with needs is passed over by ``find_lanes``.
  private static func isShut(_ identifier: String, _ gates: String) -> String {
    """
    EXISTS (
      SELECT FROM unnest(shut_identifiers, closed) AS s (identifier, needs) WHERE s.identifier = \(identifier) AND s.needs = \(gates)::jsonb - 'key')
    """
  }

  static let claiming = [
    // Moves what has become due; any host does so for all. Returns when the next request is due.
    """
    CREATE OR REPLACE FUNCTION taskhost.promote(most integer) RETURNS TABLE (moved bigint, next_due bigint)
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
      RETURN QUERY SELECT count, (SELECT min(l.due) FROM taskhost.later l);
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
    // Finds lanes with needs in which requests are ready, of the identifiers `wanted` and besides those `known`: at most 200, in the order of
    // their numbers from `start` on. Returns the number, the identifier and the needs of each, in one array in JSON, and until where it has
    // looked: `start` if it has come round. Lanes that need the same as one of `shut_identifiers` with its needs in `shut` are passed over,
    // whatever their concurrency keys.
    //
    // There may be as many lanes as concurrency keys. This reads only those with ready requests, an entry of the index each, and not the lanes
    // without needs, of which hosts know: they may have a million entries, dead ones too.
    //
    // The youngest of each identifier come first, whatever the turn: else requests that nobody can run, each with needs of its own, would keep all
    // other identifiers waiting for as long as a turn lasts.
    """
    CREATE OR REPLACE FUNCTION taskhost.find_lanes(
      wanted text[], known bigint[], start integer, shut_identifiers text[] DEFAULT '{}', shut text[] DEFAULT '{}')
    RETURNS TABLE (lanes text, reached integer) LANGUAGE plpgsql STABLE AS $$
    DECLARE
      plain integer[] := ARRAY(SELECT l.id FROM taskhost.lane l WHERE l.gates = ''); edge integer; next integer;
      at integer := start; is_round boolean := false; one text[]; hits text[] := '{}';
      closed jsonb[] := ARRAY(SELECT s.needs::jsonb FROM unnest(shut) WITH ORDINALITY AS s (needs, place) ORDER BY s.place);
      young record; seen bigint[] := known;
    BEGIN
      FOR young IN
        SELECT y.id, w.identifier, y.gates FROM unnest(wanted) AS w (identifier) CROSS JOIN LATERAL (
          SELECT l.id, l.gates FROM taskhost.lane l WHERE l.identifier = w.identifier AND l.gates <> ''
          ORDER BY l.id DESC LIMIT greatest(4, 100 / greatest(1, cardinality(wanted)))) y
        WHERE y.id <> ALL (known) AND EXISTS (SELECT FROM taskhost.ready q WHERE q.lane = y.id) AND NOT \(isShut("w.identifier", "y.gates"))
      LOOP
        hits := hits || ARRAY[young.id::text, young.identifier, young.gates];
        seen := seen || young.id::bigint;
      END LOOP;
      FOR step IN 1 .. 500 LOOP
        edge := (SELECT min(p.id) FROM unnest(plain) p (id) WHERE p.id > at);
        SELECT q.lane INTO next FROM taskhost.ready q WHERE q.lane > at AND q.lane < coalesce(edge, 2147483647) ORDER BY q.lane LIMIT 1;
        IF next IS NOT NULL THEN
          at := next;
          IF at <> ALL (seen) THEN
            SELECT ARRAY[l.id::text, l.identifier, l.gates] INTO one FROM taskhost.lane l
              WHERE l.id = at AND l.identifier = ANY (wanted) AND NOT \(isShut("l.identifier", "l.gates"));
            IF FOUND THEN hits := hits || one; END IF;
            EXIT WHEN cardinality(hits) >= 3 * 200;
          END IF;
        ELSIF edge IS NOT NULL THEN
          at := edge;
        ELSE
          at := CASE WHEN is_round THEN start ELSE 0 END;
          is_round := true;
        END IF;
        IF is_round AND at >= start THEN
          at := start;
          EXIT;
        END IF;
      END LOOP;
      RETURN QUERY SELECT to_json(hits)::text, at;
    END $$
    """,
    // What a host asks for each time: moves what has become due, and claims of `lanes` what has the lowest ranks: of each at most `limits`, and
    // of those in one of the `groups` together no more either. The last row has no id, and says how many requests have become due, when the
    // next one is due, one that prefers another host may be taken, or a deadline or a pause ends, which requests somebody has cancelled (see
    // `cancelled`), which ones are late, whether an event is to be told of, in which of the lanes `watched` requests are ready and left, in
    // which others from `start` on and besides the needs that are `shut`, if the host names its `identifiers` (see find_lanes), and the
    // pauses, if they are not those of `known_pauses`. A host that finds nothing writes nothing but the locks of
    // what is limited.
    //
    // `prefers` has, of each lane, the label or the name of the hosts that its requests prefer; '' for none.
    //
    // Of the limits that hold for the whole fleet, 0 is none; hosts that claim what is limited wait for each other, in the order of the groups.
    //
    // The plans are those that fit any arguments. Left to choose, PostgreSQL makes new ones at each call, and that takes longer than all
    // that the call does. The functions that this one calls are planned in the same way.
    """
    CREATE OR REPLACE FUNCTION taskhost.look(
      me uuid, lanes bigint[], limits bigint[], groups bigint[], key_runs bigint[], rates bigint[], periods bigint[], key_rates bigint[],
      key_periods bigint[], watched bigint[] DEFAULT '{}', prefers text[] DEFAULT '{}', identifiers text[] DEFAULT NULL,
      start integer DEFAULT 0, shut_identifiers text[] DEFAULT '{}', shut text[] DEFAULT '{}', known_pauses text DEFAULT NULL)
    RETURNS TABLE (
      id bigint, lane integer, rank bigint, epoch bigint, lost integer, payload bytea, event_payload bytea, checkpoint bytea, record text,
      moved bigint, next_due bigint, at bigint, stopped text, late text, has_event boolean, waiting text, found text, reached integer,
      pauses text)
    LANGUAGE plpgsql SET plan_cache_mode = force_generic_plan \(indexed) AS $$
    DECLARE
      i integer; head bigint; token bigint; which text; its_key text; most bigint; is_limited boolean; used bigint[] := '{}';
      picked tid[]; taken tid[] := '{}'; few integer := \(fewUnweighed); left_bytes bigint := \(ClaimedRequest.bytesTogether); its_bytes bigint;
      counted text; running jsonb; siblings bigint; cut bigint; cuts bigint[] := '{}'; found_ranks bigint; has_rest boolean := false;
      is_rest boolean := false; has_locked boolean := false; has_written boolean := pg_current_xact_id_if_assigned() IS NOT NULL;
      due record; young bigint; its_young bigint; patient bigint; waits boolean; old_ranks bigint[]; old_ids bigint[]; now bigint := taskhost.now_ms();
    BEGIN
      SELECT 0::bigint AS moved, min(l.due) AS next_due INTO due FROM taskhost.later l;
      IF due.next_due <= now THEN SELECT p.moved, p.next_due INTO due FROM taskhost.promote(500) p; END IF;
      patient := now - \(Preference.wait.wholeMilliseconds);
      -- A claim begins at the head of its lane. What a snapshot still sees lies before it, and is passed over once.
      -- Of the lanes of a group, the first pass takes only what is among the lowest ranks of all of them; if limits keep some of that from being
      -- taken, the second one fills up.
      LOOP
        FOR i, is_limited, head, siblings IN
          SELECT l.place, l.is_limited, l.rank, count(*) OVER (PARTITION BY l.in_group) FROM (
            SELECT u.place, u.in_group, u.runs > 0 OR u.rate > 0 OR u.key_rate > 0 AS is_limited,
              (SELECT q.rank FROM taskhost.ready q WHERE q.lane = u.lane::integer ORDER BY q.rank LIMIT 1) AS rank
            FROM unnest(lanes, groups, key_runs, rates, key_rates) WITH ORDINALITY AS u (lane, in_group, runs, rate, key_rate, place)) l
          WHERE l.rank IS NOT NULL
            AND NOT \(isPaused("(SELECT n.identifier FROM taskhost.lane n WHERE n.id = lanes[l.place]::integer)", at: "now"))
          ORDER BY l.is_limited, CASE WHEN l.is_limited THEN l.in_group END, l.rank
        LOOP
          most := limits[i] - coalesce(used[groups[i]], 0);
          CONTINUE WHEN most <= 0 OR siblings = 1 AND is_rest;
          cut := \(Int64.max);
          IF siblings > 1 AND NOT is_rest THEN
            IF cuts[groups[i]] IS NULL THEN
              SELECT max(h.rank), count(*) INTO cut, found_ranks FROM (
                SELECT q.rank FROM unnest(lanes, groups) AS u (lane, in_group) CROSS JOIN LATERAL (
                  SELECT q.rank FROM taskhost.ready q WHERE q.lane = u.lane::integer ORDER BY q.rank
                  LIMIT least(limits[i], 1 + \(ranksCompared) / siblings)) q
                WHERE u.in_group = groups[i] ORDER BY q.rank LIMIT limits[i]) h;
              IF found_ranks < limits[i] THEN cut := \(Int64.max); END IF;
              cuts[groups[i]] := cut;
            END IF;
            cut := cuts[groups[i]];
            has_rest := has_rest OR cut < \(Int64.max);
            CONTINUE WHEN head > cut;
          END IF;
          IF is_limited THEN
            SELECT l.identifier, l.concurrency_key INTO which, its_key FROM taskhost.lane l WHERE l.id = lanes[i];
            -- A row, which only hosts may lock: an advisory lock could be anybody's.
            PERFORM FROM taskhost.lane l WHERE l.id = (\(lane(of: "which", needing: "''"))) FOR NO KEY UPDATE;
            has_locked := true;
            IF key_runs[i] > 0 THEN
              -- Of all keys at once: there may be a lane for each. Each claim's own is asked for: a join might read all lanes.
              IF counted IS DISTINCT FROM which THEN
                counted := which;
                SELECT coalesce(jsonb_object_agg(k.name, k.runs), '{}') INTO running FROM (
                  SELECT o.name, count(*) AS runs FROM (
                    SELECT (SELECT l.concurrency_key FROM taskhost.request r JOIN taskhost.lane l ON l.id = r.lane
                      WHERE r.id = c.request AND l.identifier = which) AS name FROM taskhost.claim c WHERE NOT c.visiting) o
                  WHERE o.name IS NOT NULL GROUP BY o.name) k;
              END IF;
              most := least(most, key_runs[i] - coalesce((running->>its_key)::bigint, 0));
            END IF;
            IF rates[i] > 0 THEN most := least(most, taskhost.left_of_rate(which, '', rates[i], periods[i])); END IF;
            IF key_rates[i] > 0 THEN most := least(most, taskhost.left_of_rate(which, its_key, key_rates[i], key_periods[i])); END IF;
            CONTINUE WHEN most <= 0;
          END IF;
          waits := false;
          IF prefers[i] <> '' THEN
            waits := NOT EXISTS (SELECT FROM taskhost.host h WHERE h.incarnation = me AND taskhost.is_preferred(h, prefers[i]));
          END IF;
          IF waits THEN
            -- The head of the lane: millions of young requests may follow. Each one's own time is asked for as it comes: a join might read all.
            SELECT array_agg(h.rank) FILTER (WHERE h.due <= patient), array_agg(h.request) FILTER (WHERE h.due <= patient),
              min(h.due) FILTER (WHERE h.due > patient) INTO old_ranks, old_ids, its_young
            FROM (SELECT q.rank, q.request, (SELECT r.due FROM taskhost.request r WHERE r.id = q.request) AS due
              FROM taskhost.ready q WHERE q.lane = lanes[i]::integer AND q.rank >= head
              ORDER BY q.rank, q.request LIMIT 4 * limits[i]) h;
            waits := its_young IS NOT NULL AND taskhost.others_are_preferred(lanes[i], prefers[i]);
          END IF;
          IF waits THEN
            young := least(young, its_young);
            CONTINUE WHEN old_ids IS NULL;
            picked := ARRAY(
              SELECT q.ctid FROM unnest(old_ranks, old_ids) AS u (rank, request)
                JOIN taskhost.ready q ON q.lane = lanes[i]::integer AND q.rank = u.rank AND q.request = u.request
              WHERE q.rank <= cut AND (NOT is_rest OR q.ctid <> ALL (taken)) ORDER BY q.rank, q.request LIMIT most FOR UPDATE OF q SKIP LOCKED);
          ELSE
            picked := ARRAY(
              SELECT q.ctid FROM taskhost.ready q WHERE q.lane = lanes[i]::integer AND q.rank BETWEEN head AND cut
                AND (NOT is_rest OR q.ctid <> ALL (taken))
              ORDER BY q.rank, q.request LIMIT most FOR UPDATE SKIP LOCKED);
          END IF;
          CONTINUE WHEN cardinality(picked) = 0;
          -- A host gets no more at once than it can hold. A few requests are not weighed, which is most of what an idle fleet claims.
          few := few - cardinality(picked);
          IF few < 0 THEN
            SELECT array_agg(w.place), max(w.bytes) INTO picked, its_bytes FROM (
              SELECT q.ctid AS place, row_number() OVER heads AS number, sum(\(bytes(of: "r"))) OVER heads AS bytes
              FROM taskhost.ready q JOIN taskhost.request r ON r.id = q.request WHERE q.ctid = ANY (picked)
              WINDOW heads AS (ORDER BY q.rank, q.request)) w
            WHERE w.bytes <= left_bytes OR token IS NULL AND w.number = 1;
            CONTINUE WHEN picked IS NULL;
            left_bytes := left_bytes - its_bytes;
          END IF;
          IF token IS NULL THEN
            PERFORM taskhost.hold_lease(me);
            token := nextval('taskhost.epoch');
          END IF;
          taken := taken || picked;
          used[groups[i]] := coalesce(used[groups[i]], 0) + cardinality(picked);
          IF is_limited THEN
            IF key_runs[i] > 0 THEN
              running := running || jsonb_build_object(its_key, coalesce((running->>its_key)::bigint, 0) + cardinality(picked));
            END IF;
            IF rates[i] > 0 THEN INSERT INTO taskhost.begun VALUES (which, '', taskhost.now_ms(), cardinality(picked)); END IF;
            IF key_rates[i] > 0 THEN INSERT INTO taskhost.begun VALUES (which, its_key, taskhost.now_ms(), cardinality(picked)); END IF;
          END IF;
        END LOOP;
        EXIT WHEN is_rest OR NOT has_rest OR NOT EXISTS (
          SELECT FROM unnest(limits, groups) AS u (most, in_group)
          WHERE cuts[u.in_group] < \(Int64.max) AND coalesce(used[u.in_group], 0) < u.most);
        is_rest := true;
      END LOOP;
      IF token IS NOT NULL THEN
        RETURN QUERY WITH gone AS (
          DELETE FROM taskhost.ready WHERE ctid = ANY (taken) RETURNING ready.request, ready.rank
        ), owned AS (
          INSERT INTO taskhost.claim (request, incarnation, epoch, since) SELECT g.request, me, token, now FROM gone g
        )
        SELECT r.id, r.lane, g.rank, token, r.lost, r.payload, r.event_payload, r.checkpoint, r.record,
          NULL::bigint, NULL::bigint, NULL::bigint, NULL::text, NULL::text, NULL::boolean, NULL::text, NULL::text, NULL::integer, NULL::text
        FROM gone g JOIN taskhost.request r ON r.id = g.request ORDER BY g.rank, r.id;
      END IF;
      -- Who has only locked rows need not wait for the disk.
      IF has_locked AND token IS NULL AND NOT has_written AND due.moved = 0 THEN PERFORM set_config('synchronous_commit', 'off', true); END IF;
      -- There is rarely anything to tell, and to see that there is not costs less than to call what finds it.
      RETURN QUERY SELECT NULL::bigint, NULL::integer, NULL::bigint, NULL::bigint, NULL::integer, NULL::bytea, NULL::bytea, NULL::bytea,
        NULL::text, due.moved, least(due.next_due, young + \(Preference.wait.wholeMilliseconds),
          (SELECT min(r.deadline) FROM taskhost.request r WHERE r.deadline > now AND \(mayBeLate)),
          (SELECT min(p.until) FROM taskhost.pause p WHERE p.until > now)), taskhost.now_ms(),
        CASE WHEN EXISTS (SELECT FROM taskhost.request r WHERE r.stop)
          THEN (SELECT to_json(array_agg(c.request::text))::text FROM taskhost.cancelled(me) c) END,
        CASE WHEN EXISTS (SELECT FROM taskhost.request r WHERE r.deadline <= now AND \(mayBeLate))
          THEN (SELECT to_json(array_agg(l.request::text))::text FROM taskhost.late() l) END,
        (EXISTS (SELECT FROM taskhost.raised) OR EXISTS (SELECT FROM taskhost.undecided)) AND EXISTS (SELECT FROM taskhost.unheard()),
        (SELECT to_json(array_agg(w.lane::text))::text FROM unnest(watched) w (lane)
          WHERE EXISTS (SELECT FROM taskhost.ready q WHERE q.lane = w.lane::integer)), f.lanes, f.reached, taskhost.pauses(known_pauses)
        FROM (SELECT 1) AS one LEFT JOIN LATERAL taskhost.find_lanes(identifiers, lanes || watched, start, shut_identifiers, shut) f
          ON identifiers IS NOT NULL;
    END $$
    """,
  ]
}
