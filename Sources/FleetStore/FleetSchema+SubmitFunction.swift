import TaskModel

extension FleetSchema {
  private static func array(_ words: [String]) -> String { "'{\(words.joined(separator: ","))}'::text[]" }

  /// Refuses a number of milliseconds that a request may not have.
  private static func checkLength(_ field: RequestField) -> String {
    """
    IF \(field.rawValue) NOT BETWEEN 0 AND \(Limits.longestDuration.wholeMilliseconds) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', '\(field.rawValue)', '\(field.rawValue): ' || \(field.rawValue)
          || ' is outside of 0 to \(Limits.longestDuration.wholeMilliseconds)');
      END IF;
    """
  }

  /// Refuses a moment that RFC 3339 cannot write.
  private static func checkTime(_ field: RequestField) -> String {
    """
    IF NOT isfinite(\(field.rawValue)) OR extract(epoch FROM \(field.rawValue)) * 1000 NOT BETWEEN
        \(WallTime.calendar.lowerBound.unixMilliseconds) AND \(WallTime.calendar.upperBound.unixMilliseconds) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', '\(field.rawValue)', '\(field.rawValue): lies outside of the years 1970 to 9999');
      END IF;
    """
  }

  /// Refuses two ways of saying one thing.
  private static func exclude(_ first: String, _ second: String) -> String {
    """
    IF \(first) IS NOT NULL AND \(second) IS NOT NULL THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', '\(second)', '\(first) and \(second) exclude each other: give one of them');
      END IF;
    """
  }

  /// What a step of priority is worth in a rank.
  private static let step =
    -DueRequest(
      id: RequestID(sequence: 0, origin: 0), due: WallTime(unixMilliseconds: 0), priority: 1, attemptsSpent: 0, isRepeating: false
    ).rank

  /// Its parameters have the names of `RequestField`, with PostgreSQL's own types for bytes and times.
  static let submit = """
    CREATE OR REPLACE FUNCTION taskhost.submit(
      identifier text, payload jsonb DEFAULT NULL, payload_bytes bytea DEFAULT NULL, delay_ms bigint DEFAULT NULL,
      earliest_begin timestamptz DEFAULT NULL, deadline timestamptz DEFAULT NULL, priority integer DEFAULT 0,
      conditions text[] DEFAULT NULL, on_lost_condition text DEFAULT NULL, "window" text DEFAULT NULL,
      concurrency_key text DEFAULT NULL, resources jsonb DEFAULT NULL, flex_ms bigint DEFAULT 0, wake boolean DEFAULT false,
      unique_key text DEFAULT NULL, on_conflict text DEFAULT NULL, idempotency_key text DEFAULT NULL, retry jsonb DEFAULT NULL,
      tags text[] DEFAULT NULL, traceparent text DEFAULT NULL, notify boolean DEFAULT false, prefer text DEFAULT NULL)
    RETURNS text LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $submit$
    #variable_conflict use_variable
    DECLARE
      now bigint := taskhost.now_ms();
      content bytea := coalesce(payload_bytes, convert_to(payload::text, 'UTF8'), ''::bytea);
      begins bigint; ends bigint; due bigint; is_late boolean; bits integer; names text; tokens text; policy text; trace text;
      needs text; line text; submitted text; print bigint;
      place integer; given text; made record;
    BEGIN
      IF identifier IS NULL THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'identifier', 'identifier: is missing: say whose handler is to run');
      ELSIF octet_length(identifier) > 128 OR identifier COLLATE "C" !~ '^[A-Za-z0-9][A-Za-z0-9._-]*$' THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'identifier', 'identifier: identifier "' || left(identifier, 160) || '" '
          || CASE WHEN identifier = '' THEN 'is empty'
               WHEN octet_length(convert_to(identifier, 'UTF8')) > 128
                 THEN 'has ' || octet_length(convert_to(identifier, 'UTF8')) || ' bytes, more than 128'
               WHEN identifier COLLATE "C" !~ '^[A-Za-z0-9]' THEN 'does not begin with a letter or digit'
               ELSE 'has a character other than A-Z a-z 0-9 . _ -' END
          || '; use 1 to 128 of A-Z a-z 0-9 . _ - and begin with a letter or digit');
      ELSIF NOT EXISTS (SELECT FROM taskhost.host h WHERE h.identifiers @> ARRAY[identifier]) THEN
        PERFORM taskhost.refuse('\(code(of: .unknownIdentifier))', 'identifier',
          'no host of the fleet has registered ' || identifier || ': see taskhost fleet hosts',
          coalesce('The hosts have had ' || (SELECT string_agg(k.name, ', ' ORDER BY k.name) FILTER (WHERE k.place <= 5)
              || CASE WHEN count(*) > 5 THEN ' and ' || count(*) - 5 || ' more' ELSE '' END FROM
            (SELECT n.name, row_number() OVER (ORDER BY n.name) AS place FROM
              (SELECT DISTINCT unnest(h.identifiers) AS name FROM taskhost.host h) n) k) || '. ', '')
          || 'Start a host first whose configuration has the identifier with scope = "fleet".');
      END IF;
      \(exclude("payload", "payload_bytes"))
      \(exclude("delay_ms", "earliest_begin"))
      IF octet_length(content) > \(Limits.payloadBytes) THEN
        PERFORM taskhost.refuse('\(code(of: .tooBig))', 'payload', 'payload: ' || octet_length(content)
          || ' bytes, more than \(Limits.payloadBytes): pass a file''s path instead');
      END IF;
      priority := coalesce(priority, 0);
      IF priority NOT BETWEEN \(Limits.priorities.lowerBound) AND \(Limits.priorities.upperBound) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'priority', 'priority: ' || priority
          || ' is outside of \(Limits.priorities.lowerBound) to \(Limits.priorities.upperBound)');
      END IF;
      IF unique_key IS NOT NULL THEN
        PERFORM taskhost.check_key('unique_key', unique_key);
        -- What ScheduleName reads.
        IF starts_with(unique_key, '\(TaskRequest.scheduleKeyPrefix)' || identifier) AND
          substr(unique_key, length('\(TaskRequest.scheduleKeyPrefix)' || identifier) + 1) COLLATE "C"
            ~ '^(/[A-Za-z0-9._-]{1,\(ScheduleName.longest)})?$' THEN
          PERFORM taskhost.refuse('\(code(of: .conflict))', 'unique_key', 'unique_key: "' || unique_key
            || '" is the key of the schedule in the configuration: change the schedule there, or use another key');
        END IF;
        on_conflict := coalesce(on_conflict, '\(ConflictPolicy.keep.rawValue)');
      END IF;
      IF on_conflict <> ALL (\(array(ConflictPolicy.allCases.map(\.rawValue)))) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'on_conflict', 'on_conflict: there is no "' || left(on_conflict, 80) || '"');
      ELSIF unique_key IS NULL AND on_conflict <> 'none' THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'unique_key',
          'unique_key: is missing: on_conflict applies to requests with the same key');
      ELSIF unique_key IS NOT NULL AND on_conflict = 'none' THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'on_conflict',
          'on_conflict: none with a unique_key: choose keep, replace, update or append, or leave the key out');
      ELSIF on_conflict <> ALL ('{none,keep}'::text[]) THEN
        PERFORM taskhost.refuse('\(code(of: .unsupported))', 'on_conflict', 'on_conflict ' || on_conflict
          || ' is not offered in SQL: submit it through a host');
      END IF;
      IF idempotency_key IS NOT NULL THEN
        PERFORM taskhost.check_key('idempotency_key', idempotency_key);
        IF starts_with(idempotency_key, '\(TaskRequest.pluginKeyPrefix)') THEN
          PERFORM taskhost.refuse('\(code(of: .invalid))', 'idempotency_key', 'idempotency_key: keys that begin with '
            || '\(TaskRequest.pluginKeyPrefix) are reserved for plugins: use another');
        END IF;
      END IF;
      -- An array of arrays would be read as one of strings.
      IF array_ndims(tags) > 1 OR array_ndims(conditions) > 1 THEN
        given := CASE WHEN array_ndims(tags) > 1 THEN 'tags' ELSE 'conditions' END;
        PERFORM taskhost.refuse('\(code(of: .invalid))', given, given || '[0]: must be a string, this is an array');
      END IF;
      IF cardinality(tags) > \(Limits.tags) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'tags', 'tags: ' || cardinality(tags)
          || ' tags, more than \(Limits.tags): leave some out');
      END IF;
      FOR place, given IN SELECT t.place - 1, t.tag FROM unnest(tags) WITH ORDINALITY AS t (tag, place) LOOP
        PERFORM taskhost.check_key('tags[' || place || ']', given);
        IF starts_with(given, '\(TaskRequest.ownerTag)') OR starts_with(given, '\(TaskRequest.endedTag)') THEN
          PERFORM taskhost.refuse('\(code(of: .invalid))', 'tags[' || place || ']', 'tags[' || place || ']: tags that begin with '
            || split_part(given, ':', 1) || ': are reserved for the host: use another');
        END IF;
      END LOOP;
      FOR place, given IN SELECT c.place - 1, c.name FROM unnest(conditions) WITH ORDINALITY AS c (name, place) LOOP
        IF coalesce(given <> ALL (\(array(Conditions.named.map(\.name)))), true) THEN
          PERFORM taskhost.refuse('\(code(of: .invalid))', 'conditions[' || place || ']',
            coalesce('there is no condition "' || left(given, 80) || '"', 'conditions[' || place || ']: must be a string, this is null'),
            'The conditions are \(Conditions.named.map(\.name).joined(separator: ", ")).');
        END IF;
      END LOOP;
      IF on_lost_condition <> ALL (\(array(LostConditionPolicy.allCases.map(\.rawValue)))) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'on_lost_condition',
          'on_lost_condition: there is no "' || left(on_lost_condition, 80) || '"',
          'Choose one of: \(LostConditionPolicy.allCases.map(\.rawValue).joined(separator: ", ")).');
      END IF;
      IF "window" IS NOT NULL THEN PERFORM taskhost.check_key('window', "window"); END IF;
      IF concurrency_key IS NOT NULL THEN PERFORM taskhost.check_key('concurrency_key', concurrency_key, true); END IF;
      IF prefer IS NOT NULL THEN PERFORM taskhost.check_key('prefer', prefer, true); END IF;
      tokens := taskhost.checked_resources(resources);
      flex_ms := coalesce(flex_ms, 0);
      \(checkLength(.flex))
      \(checkLength(.delay))
      \(checkTime(.earliestBegin))
      \(checkTime(.deadline))
      begins := coalesce(now + delay_ms, floor(extract(epoch FROM earliest_begin) * 1000)::bigint);
      ends := floor(extract(epoch FROM deadline) * 1000)::bigint;
      IF ends < begins THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'deadline', 'deadline: is before the earliest begin: move one of them');
      END IF;
      policy := taskhost.checked_retry(retry);
      trace := taskhost.checked_trace(traceparent);
      due := greatest(begins, now);
      is_late := coalesce(ends <= now, false);

      -- The record, as RecordText writes it.
      SELECT bit_or(c.bit), '[' || string_agg('"' || c.name || '"', ',' ORDER BY c.bit) || ']' INTO bits, names
        FROM (VALUES \(Conditions.named.map { "('\($0.name)', \($0.condition.rawValue))" }.joined(separator: ", "))) AS c (name, bit)
        WHERE c.name = ANY (conditions);
      line := concat('{"identifier":"', identifier, '","state":"pending","due_unix_ms":', due, ',"submitted_unix_ms":', now,
        ',"priority":', priority, ',"conditions":' || names, ',"on_lost_condition":"' || on_lost_condition || '"',
        ',"window":' || to_json("window"), ',"concurrency_key":' || to_json(concurrency_key), ',"resources":' || tokens,
        ',"prefer":' || to_json(prefer), ',"flex_ms":' || nullif(flex_ms, 0), CASE WHEN wake THEN ',"wake":true' END,
        ',"tags":[' || (SELECT string_agg(to_json(t.tag)::text, ',' ORDER BY t.place)
          FROM unnest(tags) WITH ORDINALITY AS t (tag, place)) || ']',
        ',"unique_key":' || to_json(unique_key), ',"on_conflict":"' || nullif(on_conflict, 'none') || '"',
        ',"idempotency_key":' || to_json(idempotency_key), ',"traceparent":"' || trace || '"', ',"earliest_begin_unix_ms":' || begins,
        ',"deadline_unix_ms":' || ends, CASE WHEN delay_ms IS NOT NULL THEN ',"clock":"boot"' END, ',"retry":' || policy,
        ',"unchecked":true', CASE WHEN is_late THEN ',"past_deadline":true' END, '}');

      IF idempotency_key IS NOT NULL THEN
        -- What was submitted, without what differs each time.
        submitted := (jsonb_build_array(identifier, delay_ms, CASE WHEN delay_ms IS NULL THEN begins END, ends, priority, names,
          on_lost_condition, "window", concurrency_key, tokens, flex_ms, wake, unique_key, policy, tags)
          || coalesce(to_jsonb(prefer), '[]'))::text;
        print := ('x' || encode(substr(sha256(convert_to(submitted, 'UTF8') || content), 1, 8), 'hex'))::bit(64)::bigint;
      END IF;

      -- The lane, as StoredGates writes it. A deadline that has passed lifts some needs, see RunConstraints.relaxed.
      IF is_late THEN
        bits := nullif(bits & \(RunConstraints.lasting.rawValue), 0);
        "window" := NULL;
        flex_ms := 0;
      END IF;
      needs := concat_ws(',', '"conditions":' || bits, CASE WHEN on_lost_condition = 'finish' THEN '"finish":true' END,
        '"flex":' || nullif(flex_ms, 0), '"key":' || to_json(concurrency_key), CASE WHEN is_late THEN '"late":true' END,
        '"prefer":' || to_json(prefer), '"resources":' || tokens, CASE WHEN wake THEN '"wake":true' END, '"window":' || to_json("window"));
      needs := coalesce('{' || nullif(needs, '') || '}', '');

      SELECT e.id, e.known INTO made FROM taskhost.enqueue_named(identifier, taskhost.lane_of(identifier, needs, concurrency_key), due,
        due - priority * \(step), NULL,
        CASE WHEN is_late THEN \(Int64.max) ELSE coalesce(ends, \(Int64.max)) END, content, line, unique_key, idempotency_key,
        print, NULL, true, false) e;
      IF made.known = 'different' THEN
        PERFORM taskhost.refuse('\(code(of: .conflict))', 'idempotency_key', 'idempotency_key: '
          || 'the idempotency key was used for another submission, which became ' || taskhost.id_text(made.id) || ': use a new key');
      END IF;
      IF notify AND made.known = 'new' THEN PERFORM pg_notify('taskhost', ''); END IF;
      RETURN taskhost.id_text(made.id);
    END $submit$
    """
}
