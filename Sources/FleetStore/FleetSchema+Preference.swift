// Which hosts get a request first, see `Preference`.

extension FleetSchema {
  static let preference = [
    // Whether a host lives, takes requests, and has the label or the name.
    """
    CREATE OR REPLACE FUNCTION taskhost.is_preferred(h taskhost.host, preferred text) RETURNS boolean LANGUAGE sql STABLE AS $$
      SELECT h.fenced IS NULL AND h.lease_until > taskhost.now_ms() AND NOT h.draining AND h.leaving IS NULL
        AND (h.name = preferred OR preferred = ANY (h.labels))
    $$
    """,
    // Whether there is such a host for the requests of a lane: without one, nobody waits for it.
    """
    CREATE OR REPLACE FUNCTION taskhost.others_are_preferred(which bigint, preferred text) RETURNS boolean LANGUAGE sql STABLE AS $$
      SELECT EXISTS (SELECT FROM taskhost.lane l JOIN taskhost.host h ON h.identifiers @> ARRAY[l.identifier]
        WHERE l.id = which::integer AND taskhost.is_preferred(h, preferred))
    $$
    """,
  ]
}
