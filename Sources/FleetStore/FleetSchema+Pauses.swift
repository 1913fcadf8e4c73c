import TaskModel

// Pauses of the whole fleet: what they select, no host claims.

extension FleetSchema {
  static let pauseTables = [
    // `likes` has the identifiers as patterns of LIKE; none: all.
    """
    CREATE TABLE taskhost.pause (
      id bigint GENERATED ALWAYS AS IDENTITY (START WITH \(FleetPauses.firstID)) PRIMARY KEY, filter text NOT NULL, likes text[] NOT NULL,
      author text NOT NULL, author_id bigint, reason text, since bigint NOT NULL, until bigint)
    """
  ]

  /// Whether a pause in force selects an identifier.
  static func isPaused(_ identifier: String, at now: String) -> String {
    """
    EXISTS (SELECT FROM taskhost.pause p WHERE coalesce(p.until > \(now), true) AND (p.likes = '{}' OR \(identifier) LIKE ANY (p.likes)))
    """
  }

  static let pausing = [
    // The pauses in force, if they are others than those of the mark `known`: a new mark, and the seven members of each, in an array in JSON.
    //
    // The number and the greatest id make a mark: ids only grow, so two states with the same mark are the same.
    """
    CREATE OR REPLACE FUNCTION taskhost.pauses(known text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE now bigint := taskhost.now_ms(); parts text[]; p taskhost.pause;
    BEGIN
      SELECT ARRAY[count(*) || ' to ' || coalesce(max(q.id), 0)] INTO parts FROM taskhost.pause q WHERE coalesce(q.until > now, true);
      IF known IS NULL OR parts[1] = known THEN RETURN NULL; END IF;
      FOR p IN SELECT * FROM taskhost.pause q WHERE coalesce(q.until > now, true) ORDER BY q.id LOOP
        parts := parts || ARRAY[p.id::text, p.filter, p.author, coalesce(p.author_id::text, ''), coalesce(p.reason, ''), p.since::text,
          coalesce(p.until::text, '')];
      END LOOP;
      RETURN to_json(parts)::text;
    END $$
    """
  ]
}
