import TaskModel

/// `taskhost.submit`: a submission within an application's own transaction.
///
/// It checks what `TaskRequest.check()` checks, with the same limits and in the same words, and writes the text that `RecordText` writes.
/// What only a host knows, such as the contract of a handler and the operator's defaults, the host that claims the request decides: the
/// record says with `unchecked` that no host has seen it yet.
extension FleetSchema {
  /// The SQLSTATE of a refusal.
  static func code(of code: RequestRefusal.Code) -> String {
    switch code {
    case .invalid: "TH100"
    case .tooBig: "TH101"
    case .unknownIdentifier: "TH102"
    case .conflict: "TH103"
    case .unsupported: "TH104"
    case .limit: "TH105"
    case .forbidden, .notFound, .unavailable, .internal: "TH199"
    }
  }

  static let submission = [idText, refuse, checkKey, checkedResources, checkedRetry, checkedTrace, submit] + rights

  /// The id as text, as `RecordID` prints it.
  private static let idText = """
    CREATE OR REPLACE FUNCTION taskhost.id_text(sequence bigint) RETURNS text LANGUAGE sql STABLE AS $$
      SELECT (lpad(to_hex((sequence >> 12) << 16 | 28672 | (sequence & 4095)), 16, '0')
        || lpad(to_hex(origin | (-9223372036854775808)), 16, '0'))::uuid::text FROM taskhost.fleet
    $$
    """

  /// Applications find the refused field in the error's column.
  private static let refuse = """
    CREATE OR REPLACE FUNCTION taskhost.refuse(state text, field text, message text, remedy text DEFAULT NULL) RETURNS void
    LANGUAGE plpgsql AS $$
    BEGIN
      RAISE EXCEPTION '%', message USING ERRCODE = state, COLUMN = field,
        HINT = coalesce(remedy, 'Nothing was submitted. See "Submitting from an application''s own transaction" in fleet.md.');
    END $$
    """

  private static let checkKey = """
    CREATE OR REPLACE FUNCTION taskhost.check_key(field text, key text, printable boolean DEFAULT false) RETURNS void
    LANGUAGE plpgsql AS $$
    DECLARE bytes integer := octet_length(convert_to(key, 'UTF8'));
    BEGIN
      IF key IS NULL THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', field, field || ': must be a string, this is null');
      ELSIF bytes = 0 THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', field,
          field || ': is empty: leave it out, or give it 1 to \(Limits.keyBytes) bytes');
      ELSIF bytes > \(Limits.keyBytes) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', field, field || ': ' || bytes || ' bytes, more than \(Limits.keyBytes): '
          || CASE WHEN field IN ('unique_key', 'idempotency_key', 'concurrency_key') THEN 'send a hash of it'
             ELSE 'give a shorter one' END);
      ELSIF printable AND key COLLATE "C" !~ '^[ -~]*$' THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', field,
          field || ': it has a character other than printable ASCII: leave that out');
      END IF;
    END $$
    """

  /// The words of an error for what jsonb_typeof names.
  private static let kinds =
    "CASE jsonb_typeof(%) WHEN 'null' THEN 'null' WHEN 'boolean' THEN 'a boolean' WHEN 'number' THEN 'a number' "
    + "WHEN 'string' THEN 'a string' WHEN 'array' THEN 'an array' ELSE 'an object' END"

  private static func kind(of value: String) -> String { kinds.replacing("%", with: value) }

  /// Refuses what is not a whole number in `range`, or has a point, as 1.0; jsonb has numbers of any size.
  private static func checkNumber(_ value: String, _ field: String, _ range: ClosedRange<Int64>) -> String {
    """
    IF jsonb_typeof(\(value)) <> 'number' OR scale(\(value)::numeric) > 0 THEN
            PERFORM taskhost.refuse('\(code(of: .invalid))', \(field), \(field) || ': must be a whole number, this is '
              || CASE jsonb_typeof(\(value)) WHEN 'number' THEN left(\(value)::text, 40) ELSE \(kind(of: value)) END);
          ELSIF \(value)::numeric NOT BETWEEN \(range.lowerBound) AND \(range.upperBound) THEN
            PERFORM taskhost.refuse('\(code(of: .invalid))', \(field), \(field) || ': ' || left(trunc(\(value)::numeric)::text, 40)
              || ' is outside of \(range.lowerBound) to \(range.upperBound)');
          END IF;
    """
  }

  private static func bounds(_ range: ClosedRange<Int>) -> ClosedRange<Int64> { Int64(range.lowerBound)...Int64(range.upperBound) }

  /// `{"gpu": 1}` as the record and the lane have it: by name, without blanks.
  private static let checkedResources = """
    CREATE OR REPLACE FUNCTION taskhost.checked_resources(resources jsonb) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE name text; tokens jsonb; members text[] := '{}';
    BEGIN
      IF resources IS NULL THEN RETURN NULL; END IF;
      IF jsonb_typeof(resources) <> 'object' THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'resources',
          'resources: must be an object as {"gpu": 1}, this is ' || \(kind(of: "resources")));
      END IF;
      IF (SELECT count(*) FROM jsonb_object_keys(resources)) > \(Limits.resources) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'resources', 'resources: '
          || (SELECT count(*) FROM jsonb_object_keys(resources)) || ' resources, more than \(Limits.resources)');
      END IF;
      FOR name, tokens IN SELECT r.key, r.value FROM jsonb_each(resources) r ORDER BY r.key COLLATE "C" LOOP
        PERFORM taskhost.check_key('resources.' || left(name, 80), name, true);
        \(checkNumber("tokens", "'resources.' || name", bounds(Limits.resourceTokens)))
        members := members || (to_json(name)::text || ':' || tokens::numeric::bigint);
      END LOOP;
      RETURN '{' || nullif(array_to_string(members, ','), '') || '}';
    END $$
    """

  /// The retry policy as the record has it. Absent members take the values of `RetryPolicy`; hosts decide if there is none at all.
  private static let checkedRetry: String = {
    let preset = RetryPolicy()
    let delays = Limits.retryDelays.lowerBound.wholeMilliseconds...Limits.retryDelays.upperBound.wholeMilliseconds
    let invalid = code(of: .invalid)
    return """
      CREATE OR REPLACE FUNCTION taskhost.checked_retry(retry jsonb) RETURNS text LANGUAGE plpgsql AS $$
      DECLARE policy jsonb; name text; backoffs text[] := '{\(RetryPolicy.Backoff.allCases.map(\.rawValue).joined(separator: ","))}';
      BEGIN
        IF retry IS NULL THEN RETURN NULL; END IF;
        IF jsonb_typeof(retry) <> 'object' THEN
          PERFORM taskhost.refuse('\(invalid)', 'retry', 'retry: must be an object, this is ' || \(kind(of: "retry")));
        END IF;
        SELECT min(k) INTO name FROM jsonb_object_keys(retry) k
          WHERE k <> ALL ('{\(RequestField.Retry.allCases.map(\.rawValue).joined(separator: ","))}'::text[]);
        IF name IS NOT NULL THEN
          PERFORM taskhost.refuse('\(invalid)', 'retry.' || name, 'retry.' || name || ': there is no such member',
            'The members are \(RequestField.Retry.allCases.map(\.rawValue).joined(separator: ", ")).');
        END IF;
        policy := '{"attempts": \(preset.attempts), "backoff": "\(preset.backoff.rawValue)", "initial_ms": \
      \(preset.initial.wholeMilliseconds), "maximum_ms": \(preset.maximum.wholeMilliseconds)}'::jsonb || retry;
        IF jsonb_typeof(policy->'backoff') <> 'string' THEN
          PERFORM taskhost.refuse('\(invalid)', 'retry.backoff',
            'retry.backoff: must be a string, this is ' || \(kind(of: "policy->'backoff'")));
        ELSIF policy->>'backoff' <> ALL (backoffs) THEN
          PERFORM taskhost.refuse('\(invalid)', 'retry.backoff', 'retry.backoff: there is no "' || left(policy->>'backoff', 80) || '"',
            'Choose one of: ' || array_to_string(backoffs, ', ') || '.');
        END IF;
        \(checkNumber("(policy->'attempts')", "'retry.attempts'", bounds(Limits.attempts)))
        \(checkNumber("(policy->'initial_ms')", "'retry.initial_ms'", delays))
        \(checkNumber("(policy->'maximum_ms')", "'retry.maximum_ms'", delays))
        IF (policy->'initial_ms')::bigint > (policy->'maximum_ms')::bigint THEN
          PERFORM taskhost.refuse('\(invalid)', 'retry.initial_ms', 'retry.initial_ms: ' || (policy->'initial_ms')::bigint
            || ' is above maximum_ms (' || (policy->'maximum_ms')::bigint || '): raise that too');
        END IF;
        RETURN format('{"attempts":%s,"backoff":"%s","initial_ms":%s,"maximum_ms":%s}', (policy->'attempts')::bigint, policy->>'backoff',
          (policy->'initial_ms')::bigint, (policy->'maximum_ms')::bigint);
      END $$
      """
  }()

  /// A traceparent as `TraceParent` prints it.
  private static let checkedTrace = """
    CREATE OR REPLACE FUNCTION taskhost.checked_trace(given text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE found text[] := regexp_match(given COLLATE "C", '^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$');
    BEGIN
      IF given IS NULL THEN RETURN NULL; END IF;
      IF found IS NULL OR found[1] = 'ff' OR found[1] = '00' AND found[5] IS NOT NULL OR found[2] ~ '^0*$' OR found[3] ~ '^0*$'
        OR octet_length(given) > \(4 * TraceParent.textBytes) THEN
        PERFORM taskhost.refuse('\(code(of: .invalid))', 'traceparent', 'traceparent: "' || left(given, 80)
          || '" is not a traceparent: version, trace id, parent id and flags in lower-case hexadecimal digits, such as '
          || '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');
      END IF;
      RETURN '00-' || found[2] || '-' || found[3] || CASE WHEN right(found[4], 1) ~ '[13579bdf]' THEN '-01' ELSE '-00' END;
    END $$
    """

  /// Applications may see the names in the schema, and use what they were given: nothing by default.
  private static let rights = [
    "GRANT USAGE ON SCHEMA taskhost TO PUBLIC", "REVOKE ALL ON ALL TABLES IN SCHEMA taskhost FROM PUBLIC",
    "REVOKE ALL ON ALL SEQUENCES IN SCHEMA taskhost FROM PUBLIC", "REVOKE ALL ON ALL FUNCTIONS IN SCHEMA taskhost FROM PUBLIC",
  ]
}
