// What `fleet init` does to a fleet that an earlier build has made, or of which somebody has dropped a part.

extension FleetSchema {
  /// Whether the constraint is there that lets fences wait.
  static let fencesWait = "EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'taskhost.host'::regclass AND conname = 'host_fenced')"

  /// What fleets lack that an earlier build has made. It comes before ``functions``, which rely on it.
  static let corrections = firstCorrections + repeatingCorrections
  private static let firstCorrections = [
    """
    DO $$
    BEGIN
      IF NOT \(fencesWait) THEN
        ALTER TABLE taskhost.host ADD CONSTRAINT host_fenced UNIQUE (incarnation, fenced);
      END IF;
      IF pg_get_indexdef(to_regclass('taskhost.run_ended')) NOT LIKE '%(identifier, ended)' THEN
        DROP INDEX taskhost.run_ended;
        CREATE INDEX run_ended ON taskhost.run (identifier, ended);
      END IF;
      IF EXISTS (
          SELECT FROM pg_constraint WHERE conrelid = 'taskhost.lane'::regclass AND conname = 'lane_identifier_gates_key') THEN
        ALTER TABLE taskhost.lane DROP CONSTRAINT lane_identifier_gates_key;
        DROP INDEX taskhost.request_event;
        \(eventIndex);
      END IF;
      IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'taskhost.lane'::regclass AND attname = 'retired') THEN
        ALTER TABLE taskhost.lane ADD COLUMN retired bigint, DROP CONSTRAINT IF EXISTS lane_needs;
        ALTER TABLE taskhost.fleet ADD COLUMN lanes_swept bigint NOT NULL DEFAULT 0;
      END IF;
      IF to_regclass('taskhost.lane_needs') IS NULL THEN
        \(lanesAreUnique);
      END IF;
      IF NOT EXISTS (SELECT FROM pg_attribute WHERE attrelid = 'taskhost.fleet'::regclass AND attname = 'server') THEN
        ALTER TABLE taskhost.fleet ADD COLUMN server text;
      END IF;
      IF (SELECT c.relreplident FROM pg_class c WHERE c.oid = 'taskhost.begun'::regclass) <> 'f' THEN
        ALTER TABLE taskhost.begun REPLICA IDENTITY FULL;
      END IF;
    END $$
    """
  ]

  /// What comes after all else, each in a transaction of its own: to drop an index keeps others from reading its table, and to look for requests
  /// that no host would find takes long.
  static let lateRepairs = [
    "DROP INDEX IF EXISTS taskhost.request_deadline",
    "SELECT taskhost.put_back(ARRAY(SELECT s.request FROM taskhost.strays(100) s))",
  ]

  /// Gives everything to the owner of the schema, whoever of those who may has made it, and goes on as that owner: what is new belongs to it.
  static let ownership = [
    """
    DO $$
    DECLARE its_owner name; thing record;
    BEGIN
      SELECT r.rolname INTO its_owner FROM pg_namespace n JOIN pg_roles r ON r.oid = n.nspowner WHERE n.nspname = 'taskhost';
      FOR thing IN
        SELECT CASE c.relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END AS kind, c.oid::regclass::text AS name
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE n.nspname = 'taskhost' AND c.relowner <> n.nspowner AND pg_has_role(c.relowner, 'USAGE') AND (
          c.relkind IN ('r', 'p') OR c.relkind = 'S' AND NOT EXISTS (
            SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')))
        UNION ALL SELECT 'FUNCTION', p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE n.nspname = 'taskhost' AND p.proowner <> n.nspowner AND pg_has_role(p.proowner, 'USAGE')
      LOOP
        EXECUTE format('ALTER %s %s OWNER TO %I', thing.kind, thing.name, its_owner);
      END LOOP;
      IF pg_has_role(its_owner, 'MEMBER') THEN PERFORM set_config('role', its_owner, true); END IF;
    END $$
    """
  ]

  /// Make the indexes that somebody has dropped. Where there is one, its table is not locked, which a `CREATE INDEX IF NOT EXISTS` would do first.
  static var indexRepairs: [String] {
    indexes.map {
      """
      DO $$
      BEGIN
        IF to_regclass('taskhost.\($0.name)') IS NULL THEN
          \($0.statement);
        END IF;
      END $$
      """
    }
      + primaryKeys.map {
        """
        DO $$
        BEGIN
          IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = '\($0.table)'::regclass AND contype = 'p') THEN
            CREATE UNIQUE INDEX IF NOT EXISTS \($0.name) ON \($0.table) (\($0.columns));
            ALTER TABLE \($0.table) ADD CONSTRAINT \($0.name) PRIMARY KEY USING INDEX \($0.name);
          END IF;
        END $$
        """
      }
  }

  /// Make the sequences that somebody has dropped, and let the fencing tokens go on above those that are known: a dump has the numbers of
  /// sequences, but what a server gets by logical replication has not.
  static var sequenceRepairs: [String] {
    sequenceNames.map { "CREATE SEQUENCE IF NOT EXISTS \($0)" } + [
      "SELECT setval('taskhost.epoch', \(greatestToken) + 1000000) FROM taskhost.epoch WHERE \(tokensAreBehind)"
    ]
  }

  /// Whether requests may get fencing tokens that are less than earlier owners had.
  static let tokensAreBehind = "(SELECT e.last_value FROM taskhost.epoch e) < \(greatestToken)"

  /// Of the claims, and of the last runs of each identifier.
  private static let greatestToken = """
    (SELECT coalesce(max(t.token), 0) FROM (
      SELECT max(c.epoch) FROM taskhost.claim c
      UNION ALL SELECT max(r.epoch) FROM (SELECT DISTINCT l.identifier FROM taskhost.lane l) i CROSS JOIN LATERAL (
        SELECT u.epoch FROM taskhost.run u WHERE u.identifier = i.identifier ORDER BY u.ended DESC LIMIT 100) r) AS t (token))
    """

  /// The names of all indexes, without the schema's.
  static var indexNames: [String] { indexes.map(\.name) + primaryKeys.map(\.name) + ["lane_needs"] }

  /// The names of their indexes, the tables, and the columns.
  private static var primaryKeys: [(name: String, table: String, columns: String)] {
    allTables.compactMap { statement in
      guard let table = names(of: [statement]).first, let key = statement.firstRange(of: "PRIMARY KEY") else { return nil }
      // Either a list follows, or it is the first column.
      let list = statement[key.upperBound...].drop { $0 == " " }
      let column = statement.drop { $0 != "(" }.dropFirst().drop { $0 == " " || $0 == "\n" }
      let columns = list.first == "(" ? list.dropFirst().prefix { $0 != ")" } : column.prefix { $0 != " " }
      return (table.dropFirst("taskhost.".count) + "_pkey", table, String(columns))
    }
  }

  private static var indexes: [(name: String, statement: String)] {
    allTables.compactMap { statement in
      guard let range = statement.firstRange(of: "INDEX "), statement.hasPrefix("CREATE ") else { return nil }
      return (String(statement[range.upperBound...].prefix { $0 != " " }), statement)
    }
  }

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

  /// Whoever calls a function calls no other schema's functions and operators by that. Hosts see to that themselves, and need it here no more;
  /// people do not.
  static let paths = [
    """
    DO $$
    DECLARE form regprocedure;
    BEGIN
      FOR form IN \(openFunctions) LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = pg_catalog, pg_temp', form);
      END LOOP;
    END $$
    """
  ]

  /// The functions that call what lies in the schemas of whoever calls them. Two are planned as a part of what calls them, from which a path of
  /// their own would keep them: all that they call names its schema.
  static let openFunctions = """
    SELECT p.oid::regprocedure FROM pg_proc p WHERE p.pronamespace = 'taskhost'::regnamespace AND p.proname NOT IN ('now_ms', 'new_id')
      AND coalesce(array_to_string(p.proconfig, ' '), '') NOT LIKE '%search_path%'
    """
}
