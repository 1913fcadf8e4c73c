// What became of the runs of requests that repeat.

extension FleetSchema {
  /// Whether the request `r` repeats. Within a text of its record, the quotation marks would not stand alone.
  static let repeats = "\(recordBesidesResources) LIKE ANY (ARRAY['%\"every_ms\":%', '%\"cron\":%', '%\"every_event\":%'])"

  /// The record of the request `r` without the member whose names are the submitter's choice.
  static let recordBesidesResources = #"regexp_replace(r.record, E'"resources":[{]("([^"\\\\]|\\\\.)*":[0-9]+,?)*[}]', '')"#

  /// The requests that repeat: for the last run the record and the end, as in `run`; when a run succeeded last; how many failed since, and
  /// since when. Whoever adds or ends such a request, or a run of it, writes this in the same transaction. One that repeats no more may
  /// have a row until it ends.
  static let repeatingTables = [
    """
    CREATE TABLE taskhost.repeating (
      request bigint PRIMARY KEY, identifier text NOT NULL, run text, ended bigint, success bigint, failures bigint NOT NULL DEFAULT 0,
      failing_since bigint) WITH (fillfactor = 50)
    """
  ]

  /// Lets a fleet of an earlier build have the table. What its requests have come to is known from their next runs on.
  static let repeatingCorrections = [
    """
    DO $$
    BEGIN
      IF to_regclass('taskhost.repeating') IS NULL THEN
        \(repeatingTables.joined(separator: ";\n"));
        INSERT INTO taskhost.repeating (request, identifier) SELECT r.id, r.identifier FROM taskhost.request r
          WHERE \(repeats);
      END IF;
    END $$
    """
  ]

  static let repeating = [
    // Notes requests that repeat, or have ended. `run_ids` and `runs` are of the last run of each, with NULL for none; `succeeded` is 1 if one
    // of its runs did, and `failed` counts those that failed after that. Runs that were not this host's to record do not count.
    """
    CREATE OR REPLACE FUNCTION taskhost.note_repeating(
      ids bigint[], identifiers text[], run_ids text[], runs text[], succeeded bigint[], failed bigint[])
    RETURNS void LANGUAGE plpgsql AS $$
    DECLARE now bigint := taskhost.now_ms();
    BEGIN
      DELETE FROM taskhost.repeating p
        WHERE p.request = ANY (ids) AND NOT EXISTS (SELECT FROM taskhost.request r WHERE r.id = p.request);
      INSERT INTO taskhost.repeating AS p (request, identifier, run, ended, success, failures, failing_since)
        SELECT u.id, u.identifier, u.run, CASE WHEN u.run IS NOT NULL THEN now END, CASE WHEN u.succeeded > 0 THEN now END, u.failed,
          CASE WHEN u.failed > 0 THEN now END
        FROM unnest(ids, identifiers, run_ids, runs, succeeded, failed) AS u (id, identifier, run_id, run, succeeded, failed)
        WHERE EXISTS (SELECT FROM taskhost.request r WHERE r.id = u.id)
          AND (u.run_id IS NULL OR EXISTS (SELECT FROM taskhost.run r WHERE r.id = u.run_id))
        ORDER BY u.id
      ON CONFLICT (request) DO UPDATE SET
        run = coalesce(excluded.run, p.run), ended = coalesce(excluded.ended, p.ended), success = coalesce(excluded.success, p.success),
        failures = excluded.failures + CASE WHEN excluded.success IS NULL THEN p.failures ELSE 0 END,
        failing_since = CASE WHEN excluded.success IS NULL THEN coalesce(p.failing_since, excluded.failing_since)
          ELSE excluded.failing_since END;
    END $$
    """
  ]
}
