// The days of the history, and what is removed when its time is over.

extension FleetSchema {
  /// Lets one host at a time go on: the others leave it for their next time. A row, which only hosts may lock: an advisory lock could be anybody's.
  static func onDuty(orElse leave: String) -> String {
    "PERFORM FROM taskhost.fleet FOR NO KEY UPDATE SKIP LOCKED; IF NOT FOUND THEN \(leave); END IF;"
  }

  /// The most idempotency keys that are forgotten at once.
  private static let mostForgotten = 100_000

  /// The history lies in a partition for each day. A day that is over is dropped as a whole, by the database's clock and that of the host that
  /// asks: one of them may have been set wrongly for a moment, and what is gone is gone. Without a host's clock, nothing is dropped.
  ///
  /// A day that somebody has detached comes back while it may get rows. If it cannot, it goes out of the way, or the day gets a table of another
  /// name. What cannot be made for one day keeps nothing from the others.
  static let days = [
    """
    CREATE OR REPLACE FUNCTION taskhost.keep_days(hosts_now bigint DEFAULT NULL) RETURNS void LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
    DECLARE
      day bigint := 86400000;
      today bigint := taskhost.now_ms() / day;
      now bigint := least(taskhost.now_ms(), hosts_now);
      oldest bigint := now / day - (SELECT history_days FROM taskhost.fleet);
      kind text; number bigint; name text; its_owner name; bounds text; is_held boolean := false;
    BEGIN
      \(onDuty(orElse: "RETURN"))
      FOREACH kind IN ARRAY ARRAY['ended', 'run'] LOOP
        FOR number IN today - 1 .. today + 3 LOOP
          name := kind || '_' || number;
          bounds := format('FOR VALUES FROM (%s) TO (%s)', number * day, (number + 1) * day);
          CONTINUE WHEN \(hasDay("kind", "number"));
          IF to_regclass('taskhost.' || name) IS NOT NULL THEN
            BEGIN
              IF EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = to_regclass('taskhost.' || name)) THEN
                EXECUTE format('ALTER TABLE taskhost.%I DETACH PARTITION taskhost.%I FINALIZE', kind, name);
              END IF;
              EXECUTE format('ALTER TABLE taskhost.%I ATTACH PARTITION taskhost.%I %s', kind, name, bounds);
              CONTINUE;
            EXCEPTION WHEN OTHERS THEN NULL;
            END;
            BEGIN
              EXECUTE format('ALTER TABLE taskhost.%I RENAME TO %I', name, name || '_detached_' || taskhost.now_ms());
            EXCEPTION WHEN OTHERS THEN name := name || '_' || taskhost.now_ms();
            END;
          END IF;
          BEGIN
            EXECUTE format('CREATE TABLE taskhost.%I PARTITION OF taskhost.%I %s', name, kind, bounds);
            -- As for all tables, whatever privileges new tables get by default.
            EXECUTE format('REVOKE ALL ON taskhost.%I FROM PUBLIC', name);
          EXCEPTION WHEN OTHERS THEN RAISE WARNING '%', SQLERRM;
          END;
        END LOOP;
        FOR name IN SELECT c.relname FROM pg_class c JOIN pg_inherits i ON i.inhrelid = c.oid
          WHERE i.inhparent = to_regclass('taskhost.' || kind) AND c.relname ~ ('^' || kind || '_[0-9]+(_(detached_)?[0-9]+)?$') AND hosts_now IS NOT NULL LOOP
          CONTINUE WHEN split_part(name, '_', 2)::bigint >= oldest;
          BEGIN
            -- A reader may hold it for hours. Everybody else waits behind this: not for long, and once for all days.
            PERFORM set_config('lock_timeout', CASE WHEN is_held THEN '1ms' ELSE '200ms' END, true);
            EXECUTE format('DROP TABLE taskhost.%I', name);
          EXCEPTION
            WHEN lock_not_available THEN is_held := true;
            WHEN OTHERS THEN RAISE WARNING '%', SQLERRM;
          END;
        END LOOP;
        PERFORM set_config('lock_timeout', '2s', true);
      END LOOP;
      -- A host may be a member of the role that owns all else: a backup as that role needs them too.
      FOR name, its_owner IN SELECT c.relname, r.rolname FROM pg_class p JOIN pg_inherits i ON i.inhparent = p.oid
        JOIN pg_class c ON c.oid = i.inhrelid JOIN pg_roles r ON r.oid = p.relowner
        WHERE p.relnamespace = 'taskhost'::regnamespace AND p.relkind = 'p' AND c.relkind = 'r' AND c.relowner <> p.relowner
          AND pg_has_role(c.relowner, 'USAGE') LOOP
        EXECUTE format('ALTER TABLE taskhost.%I OWNER TO %I', name, its_owner);
      END LOOP;
    END $$
    """,
    // Removes what nobody needs any more besides the history: by both clocks, as days are dropped. Some at a time: returns whether there may be
    // more.
    """
    CREATE OR REPLACE FUNCTION taskhost.clean(hosts_now bigint) RETURNS boolean LANGUAGE plpgsql SET lock_timeout = '2s' AS $$
    DECLARE
      day bigint := 86400000;
      now bigint := least(taskhost.now_ms(), hosts_now);
      oldest bigint := now / day - (SELECT history_days FROM taskhost.fleet);
      strays bigint[]; forgotten bigint;
    BEGIN
      \(onDuty(orElse: "RETURN true"))
      -- A request that lives keeps its key, however old that is.
      DELETE FROM taskhost.idempotency WHERE ctid = ANY (ARRAY(
        SELECT i.ctid FROM taskhost.idempotency i WHERE i.since < oldest * day
          AND NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = i.request) LIMIT \(mostForgotten)));
      GET DIAGNOSTICS forgotten = ROW_COUNT;
      DELETE FROM taskhost.begun b WHERE b.at < oldest * day;
      DELETE FROM taskhost.unique_window w WHERE w.until < now;
      DELETE FROM taskhost.pause p WHERE p.until < now;
      DELETE FROM taskhost.told t WHERE t.at < now - 600000;
      DELETE FROM taskhost.raised e WHERE NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = e.request);
      DELETE FROM taskhost.repeating p WHERE NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = p.request);
      -- What a host had that is gone for so long.
      DELETE FROM taskhost.schedule s WHERE NOT EXISTS (SELECT FROM taskhost.host h WHERE h.name = s.host)
        AND (s.host <> '' OR s.since < now - day);
      -- Claims of hosts whose rows somebody has deleted: long after those hosts have learned of it.
      WITH stray AS (
        DELETE FROM taskhost.claim c WHERE c.since < now - day
          AND NOT EXISTS (SELECT FROM taskhost.host h WHERE h.incarnation = c.incarnation) RETURNING c.request
      )
      SELECT array_agg(stray.request) INTO strays FROM stray;
      PERFORM taskhost.put_back(strays);
      DELETE FROM taskhost.host WHERE fenced < oldest * day
        AND NOT EXISTS (SELECT FROM taskhost.claim c WHERE c.incarnation = host.incarnation);
      RETURN forgotten >= \(mostForgotten);
    END $$
    """,
  ]

  /// Whether a partition has the whole of a day. No backslash is in it: with `standard_conforming_strings = off`, they mean something else in
  /// the session that calls a function.
  static func hasDay(_ kind: String, _ day: String) -> String {
    """
    EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid CROSS JOIN LATERAL regexp_match(
        pg_get_expr(c.relpartbound, c.oid), 'FROM [(]''?(-?[0-9]+)''?[)] TO [(]''?(-?[0-9]+)''?[)]') AS b (ends)
      WHERE i.inhparent = to_regclass('taskhost.' || \(kind)) AND NOT i.inhdetachpending
        AND b.ends[1]::numeric <= \(day)::bigint * 86400000 AND b.ends[2]::numeric >= (\(day)::bigint + 1) * 86400000)
    """
  }
}
