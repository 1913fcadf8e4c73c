// Requests that come from the store of a host.

extension FleetSchema {
  static let importTables = [
    // What became of a store's requests. Kept for ever: the same archive may come again, or the store from a backup.
    """
    CREATE TABLE taskhost.imported (
      store bigint NOT NULL, sequence bigint NOT NULL, request bigint NOT NULL, PRIMARY KEY (store, sequence))
    """
  ]

  static let importing = [bringIn, bringInKeys]

  /// Adds requests of a store as they were there. Those with a state of the history have no run here.
  private static let bringIn = """
    CREATE OR REPLACE FUNCTION taskhost.bring_in(
      its_store bigint, sequences bigint[], ids bigint[], identifiers text[], states text[], lanes bigint[], dues bigint[], ranks bigint[],
      keys text[], events text[], deadlines bigint[], payloads bytea[], event_payloads bytea[], checkpoints bytea[], records text[])
    RETURNS void LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO taskhost.imported (store, sequence, request)
        SELECT its_store, u.sequence, u.id FROM unnest(sequences, ids) AS u (sequence, id);
      INSERT INTO taskhost.ended (id, identifier, state, ended, payload, record)
        SELECT u.id, u.identifier, u.state, taskhost.now_ms(), u.payload, u.record
        FROM unnest(ids, identifiers, states, payloads, records) AS u (id, identifier, state, payload, record)
        WHERE u.state IN ('succeeded', 'cancelled');
      INSERT INTO taskhost.request (
          id, identifier, state, lane, due, rank, unique_key, event, deadline, payload, event_payload, checkpoint, record)
        SELECT u.id, u.identifier, u.state, u.lane, u.due, u.rank, u.key, u.event, u.deadline, u.payload, u.event_payload, u.checkpoint,
          u.record
        FROM unnest(ids, identifiers, states, lanes, dues, ranks, keys, events, deadlines, payloads, event_payloads, checkpoints, records)
          AS u (id, identifier, state, lane, due, rank, key, event, deadline, payload, event_payload, checkpoint, record)
        WHERE u.state IN ('pending', 'blocked', 'failed');
      PERFORM taskhost.put_back(ARRAY(SELECT u.id FROM unnest(ids, states) AS u (id, state) WHERE u.state = 'pending'));
      -- Until a host has it in its configuration, see keep_days.
      INSERT INTO taskhost.schedule (identifier, key, host, since)
        SELECT u.identifier, u.key, '', taskhost.now_ms() FROM unnest(identifiers, states, keys) AS u (identifier, state, key)
        WHERE u.key LIKE 'config:%' AND u.state IN ('pending', 'blocked') ON CONFLICT DO NOTHING;
    EXCEPTION WHEN unique_violation THEN
      RAISE EXCEPTION 'what the fleet has of these requests or their keys has just changed' USING ERRCODE = 'TH002';
    END $$
    """

  /// Adds idempotency keys, and unique keys that are held until a time. What the fleet has of them stays. Returns how many were added.
  private static let bringInKeys = """
    CREATE OR REPLACE FUNCTION taskhost.bring_in_keys(
      keys text[], prints bigint[], requests bigint[], times bigint[],
      identifiers text[], unique_keys text[], holders bigint[], untils bigint[])
    RETURNS TABLE (known bigint, held bigint) LANGUAGE plpgsql AS $$
    BEGIN
      INSERT INTO taskhost.idempotency (key, fingerprint, request, since)
        SELECT u.k, u.p, u.r, u.t FROM unnest(keys, prints, requests, times) AS u (k, p, r, t) ORDER BY u.k ON CONFLICT DO NOTHING;
      GET DIAGNOSTICS known = ROW_COUNT;
      INSERT INTO taskhost.unique_window (identifier, key, request, until)
        SELECT u.i, u.k, u.r, u.t FROM unnest(identifiers, unique_keys, holders, untils) AS u (i, k, r, t)
        WHERE u.t > taskhost.now_ms() ORDER BY u.i, u.k
        ON CONFLICT (identifier, key) DO UPDATE SET request = excluded.request, until = excluded.until
          WHERE unique_window.until <= taskhost.now_ms();
      GET DIAGNOSTICS held = ROW_COUNT;
      RETURN NEXT;
    END $$
    """
}
