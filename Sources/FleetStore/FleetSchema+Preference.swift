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

  /// Functions have one form each: where an earlier build has made one with fewer parameters, a call would fit both. Roles may call the new
  /// form if they might call the old one.
  static let forms = [
    """
    DO $$
    DECLARE old record; its_role text;
    BEGIN
      FOR old IN SELECT p.oid::regprocedure AS form, n.oid::regprocedure AS newer, p.proacl AS rights FROM pg_proc p JOIN pg_proc n
          ON n.pronamespace = p.pronamespace AND n.proname = p.proname AND n.pronargs > p.pronargs
          WHERE p.pronamespace = 'taskhost'::regnamespace AND n.pronargs = (
            SELECT max(m.pronargs) FROM pg_proc m WHERE m.pronamespace = p.pronamespace AND m.proname = p.proname) LOOP
        FOR its_role IN SELECT a.grantee::regrole::text FROM aclexplode(old.rights) a
            WHERE a.privilege_type = 'EXECUTE' AND a.grantee <> 0 LOOP
          EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %s', old.newer, its_role);
        END LOOP;
        EXECUTE format('DROP FUNCTION %s', old.form);
      END LOOP;
    END $$
    """
  ]
}
