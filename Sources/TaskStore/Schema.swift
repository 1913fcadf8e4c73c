import Failpoints
import GRDB
import TaskModel

/// The tables, as numbered migrations. A released migration is never edited.
enum Schema {
  static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1 requests, runs, state") { database in
      try database.execute(sql: version1)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("2 standing, plugins, how runs were stopped") { database in
      try database.execute(sql: version2)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("3 lanes, graphs, events, clocks") { database in
      try database.execute(sql: version3)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("4 schedules, highest") { database in
      try database.execute(sql: version4)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("5 requests handed out ahead, run times") { database in
      try database.execute(sql: version5)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("6 edges of what has failed") { database in
      try database.execute(sql: edgesOfFailed)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("7 what runs have done") { database in
      try database.execute(sql: "ALTER TABLE runs ADD COLUMN details TEXT")
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("8 paused requests") { database in
      try database.execute(sql: "ALTER TABLE requests ADD COLUMN paused TEXT")
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("9 whose submissions are known") { database in
      try database.execute(sql: version9)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("10 pauses") { database in
      try database.execute(sql: version10)
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("11 objectives") { database in
      try database.execute(
        sql: "CREATE TABLE objectives (identifier INTEGER PRIMARY KEY REFERENCES identifiers, since_ms INTEGER NOT NULL) STRICT")
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("12 the program that wrote it") { database in
      try database.execute(sql: "ALTER TABLE origin ADD COLUMN program TEXT")
      Failpoint.migrationWritten.hit()
    }
    migrator.registerMigration("13 sealed values") { database in
      try database.execute(sql: version13)
      Failpoint.migrationWritten.hit()
    }
    return migrator
  }

  /// The number of this program's last migration.
  static var current: Int { migrator.migrations.compactMap(number).max() ?? 0 }

  /// The number at the beginning of a migration's name; nil if it has none.
  static func number(_ migration: String) -> Int? { Int(migration.prefix { $0.isNumber }) }

  /// The error for a database with migrations that this program does not know, with the version that wrote it; nil for any other.
  static func future(in database: Database) throws -> StoreError? {
    let migrator = migrator
    let unknown = try migrator.appliedIdentifiers(database).subtracting(migrator.migrations)
    guard let last = unknown.max(by: { (number($0) ?? 0, $0) < (number($1) ?? 0, $1) }) else { return nil }
    // The column is from migration 12. A newer program may have another place for it.
    let program = try? String.fetchOne(database, sql: "SELECT program FROM origin")
    return .futureSchema(found: program.map { "\(last); taskhost \($0) wrote it" } ?? last)
  }

  /// Times are milliseconds since 1970. States and other enums are the numbers in `StoredValues`. Ids are sequences of `RecordID`.
  ///
  /// - `payloads` and `checkpoints` have a row only if there is data, so that a change of state rewrites a short row.
  /// - `requests_pending` lists the requests of an identifier and a priority by due time.
  /// - A live run is stored in the row of its request, an ended run in `runs`: each takes one written row.
  private static let version1 = """
    CREATE TABLE identifiers (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE) STRICT;
    CREATE TABLE origin (bits INTEGER NOT NULL) STRICT;
    CREATE TABLE requests (
      id INTEGER PRIMARY KEY,
      identifier INTEGER NOT NULL REFERENCES identifiers,
      state INTEGER NOT NULL,
      due_ms INTEGER NOT NULL,
      priority INTEGER NOT NULL,
      submitted_ms INTEGER NOT NULL,
      earliest_begin_ms INTEGER,
      conditions INTEGER NOT NULL,
      unique_key TEXT,
      on_conflict INTEGER NOT NULL,
      tags TEXT,
      retry_attempts INTEGER NOT NULL,
      retry_backoff INTEGER NOT NULL,
      retry_initial_ms INTEGER NOT NULL,
      retry_maximum_ms INTEGER NOT NULL,
      every_ms INTEGER,
      occurrence_ms INTEGER,
      attempts_spent INTEGER NOT NULL,
      losses INTEGER NOT NULL,
      stop_requested INTEGER,
      blocked_by INTEGER,
      run INTEGER,
      started_ms INTEGER,
      ended_ms INTEGER,
      last_outcome INTEGER,
      last_message TEXT
    ) STRICT;
    CREATE INDEX requests_pending ON requests (identifier, priority DESC, due_ms) WHERE state = 20;
    CREATE INDEX requests_running ON requests (id) WHERE state = 40;
    CREATE INDEX requests_blocked ON requests (blocked_by) WHERE blocked_by IS NOT NULL;
    CREATE UNIQUE INDEX requests_key ON requests (identifier, unique_key) WHERE unique_key IS NOT NULL AND state < 50;
    CREATE INDEX requests_ended ON requests (ended_ms) WHERE state >= 50;
    CREATE TABLE payloads (request INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE checkpoints (request INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE runs (
      id INTEGER PRIMARY KEY,
      request INTEGER NOT NULL,
      identifier INTEGER NOT NULL,
      attempt INTEGER NOT NULL,
      started_ms INTEGER NOT NULL,
      ended_ms INTEGER NOT NULL,
      outcome INTEGER NOT NULL,
      stop_reason INTEGER,
      forced INTEGER NOT NULL,
      message TEXT,
      output BLOB,
      completed INTEGER,
      total INTEGER,
      cpu_ns INTEGER,
      log TEXT
    ) STRICT;
    CREATE TABLE state (
      identifier INTEGER NOT NULL REFERENCES identifiers,
      key TEXT NOT NULL,
      value BLOB NOT NULL,
      PRIMARY KEY (identifier, key)
    ) STRICT;
    """
  /// - `standing` has a row only for identifiers with crashes or forced stops.
  /// - `plugin_files` and `plugin_verdicts` are what a host remembers about plugin files between launches. Unsigned 64-bit numbers are
  ///   stored as the signed number with the same bits.
  private static let version2 = """
    ALTER TABLE runs ADD COLUMN stop_stage INTEGER;
    ALTER TABLE runs ADD COLUMN peak_memory_bytes INTEGER;
    ALTER TABLE runs ADD COLUMN trouble TEXT;
    CREATE TABLE standing (
      identifier INTEGER PRIMARY KEY REFERENCES identifiers,
      strikes INTEGER NOT NULL,
      host_crashes INTEGER NOT NULL,
      held_until_ms INTEGER,
      quarantined_ms INTEGER,
      last_trouble TEXT
    ) STRICT;
    CREATE TABLE plugin_files (
      path TEXT PRIMARY KEY,
      device INTEGER NOT NULL,
      inode INTEGER NOT NULL,
      size INTEGER NOT NULL,
      modified_ns INTEGER NOT NULL,
      changed_ns INTEGER NOT NULL,
      digest BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE plugin_verdicts (
      digest BLOB NOT NULL,
      circumstances BLOB NOT NULL,
      registrations BLOB NOT NULL,
      PRIMARY KEY (digest, circumstances)
    ) STRICT, WITHOUT ROWID;
    """
  /// - A lane is an identifier with the gates that its requests share, as JSON. `requests_pending` lists the requests of a lane and a
  ///   priority by due time.
  /// - `options` has rarely used fields as JSON. `edges` has a row for each dependency of a request.
  /// - `unique_windows` holds keys beyond the end of their requests, `submissions` the answers to submissions with an idempotency key.
  /// - `request_tags` has a row for each tag of a request that has tags.
  /// - `lane` is valid only for pending requests: an empty lane is removed, and its number is reused.
  /// - `request_counts` has the number of requests of an identifier in a state, written together with the requests.
  /// - `requests_ended` has all columns that a listing of ended requests needs.
  private static let version3 = """
    CREATE TABLE lanes (
      id INTEGER PRIMARY KEY, identifier INTEGER NOT NULL REFERENCES identifiers, gates TEXT NOT NULL, UNIQUE (identifier, gates)
    ) STRICT;
    INSERT INTO lanes (identifier, gates) SELECT id, '' FROM identifiers;
    ALTER TABLE requests ADD COLUMN lane INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE requests ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE requests ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE requests ADD COLUMN deadline_ms INTEGER;
    ALTER TABLE requests ADD COLUMN relaxed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE requests ADD COLUMN event TEXT;
    ALTER TABLE requests ADD COLUMN event_due_ms INTEGER;
    ALTER TABLE requests ADD COLUMN event_since_ms INTEGER;
    ALTER TABLE requests ADD COLUMN missed_left INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE requests ADD COLUMN options TEXT;
    UPDATE requests SET lane = (SELECT id FROM lanes l WHERE l.identifier = requests.identifier);
    UPDATE requests SET repeats = 10, clock = 10 WHERE every_ms IS NOT NULL;
    DROP INDEX requests_pending;
    DROP INDEX requests_blocked;
    CREATE INDEX requests_pending ON requests (lane, priority DESC, due_ms) WHERE state = 20;
    CREATE INDEX requests_blocked ON requests (identifier) WHERE state = 10;
    CREATE INDEX requests_deadline ON requests (deadline_ms) WHERE deadline_ms IS NOT NULL AND relaxed = 0 AND state = 20;
    CREATE INDEX requests_event ON requests (event) WHERE event IS NOT NULL AND state < 50;
    DROP INDEX requests_ended;
    CREATE INDEX requests_ended ON requests (state, ended_ms, id, identifier) WHERE state >= 50;
    CREATE TABLE request_counts (
      identifier INTEGER NOT NULL, state INTEGER NOT NULL, requests INTEGER NOT NULL, PRIMARY KEY (identifier, state)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO request_counts (identifier, state, requests) SELECT identifier, state, count(*) FROM requests GROUP BY identifier, state;
    CREATE TABLE edges (
      request INTEGER NOT NULL,
      predecessor INTEGER NOT NULL,
      on_failure INTEGER NOT NULL,
      ended INTEGER,
      output BLOB,
      PRIMARY KEY (request, predecessor)
    ) STRICT;
    CREATE INDEX edges_open ON edges (predecessor) WHERE ended IS NULL;
    INSERT INTO edges (request, predecessor, on_failure) SELECT id, blocked_by, 20 FROM requests WHERE blocked_by IS NOT NULL AND state = 10;
    CREATE TABLE event_payloads (request INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
    CREATE TABLE unique_windows (
      identifier INTEGER NOT NULL, key TEXT NOT NULL, request INTEGER NOT NULL, until_ms INTEGER NOT NULL, PRIMARY KEY (identifier, key)
    ) STRICT;
    CREATE TABLE submissions (
      key TEXT PRIMARY KEY, fingerprint INTEGER NOT NULL, request INTEGER NOT NULL, disposition INTEGER NOT NULL,
      submitted_ms INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX submissions_age ON submissions (submitted_ms);
    CREATE TABLE request_tags (tag TEXT NOT NULL, request INTEGER NOT NULL, PRIMARY KEY (tag, request)) STRICT, WITHOUT ROWID;
    INSERT OR IGNORE INTO request_tags (tag, request) SELECT value, requests.id FROM requests, json_each(tags) WHERE tags IS NOT NULL;
    CREATE TABLE clock (id INTEGER PRIMARY KEY CHECK (id = 1), boot TEXT NOT NULL, offset_ms INTEGER NOT NULL) STRICT;
    """
  /// - `schedules` has the record of a unique key (kind 10), of a repeating request without one (20), or of all other requests of an
  ///   identifier (0), see `ScheduleTable`. `schedule` of a run names its schedule if the schedule may need the run.
  /// - `highest` is the highest id of any removed record, so that ids are never reused and a store that has lost records is recognized.
  private static let version4 = """
    CREATE TABLE schedules (
      id INTEGER PRIMARY KEY,
      identifier INTEGER NOT NULL REFERENCES identifiers,
      kind INTEGER NOT NULL,
      name TEXT NOT NULL,
      run INTEGER,
      success INTEGER,
      success_ms INTEGER,
      failures INTEGER NOT NULL,
      failing_since_ms INTEGER,
      UNIQUE (identifier, kind, name)
    ) STRICT;
    CREATE INDEX schedules_failing ON schedules (identifier, kind, name) WHERE failures > 0;
    CREATE INDEX requests_repeating ON requests (id) WHERE repeats <> 0;
    ALTER TABLE runs ADD COLUMN schedule INTEGER;
    ALTER TABLE origin ADD COLUMN highest INTEGER NOT NULL DEFAULT 0;
    CREATE TABLE schedules_of_runs (run INTEGER PRIMARY KEY, identifier INTEGER, kind INTEGER, name TEXT, outcome INTEGER, ended INTEGER) STRICT;
    INSERT INTO schedules_of_runs
      SELECT r.id, r.identifier,
        CASE WHEN q.unique_key IS NOT NULL THEN 10 WHEN q.repeats <> 0 THEN 20 ELSE 0 END,
        coalesce(q.unique_key, CASE WHEN q.repeats <> 0 THEN CAST(q.id AS TEXT) END, ''), r.outcome, r.ended_ms
      FROM runs r LEFT JOIN requests q ON q.id = r.request;
    CREATE INDEX schedules_of_runs_name ON schedules_of_runs (identifier, kind, name, outcome);
    INSERT INTO schedules (identifier, kind, name, run, success, failures)
      SELECT identifier, kind, name, max(run), max(run) FILTER (WHERE outcome IN (10, 20)), 0 FROM schedules_of_runs
      GROUP BY identifier, kind, name;
    UPDATE schedules SET success_ms = (SELECT ended FROM schedules_of_runs o WHERE o.run = success);
    UPDATE schedules SET (failures, failing_since_ms) = (
      SELECT count(*), min(ended) FROM schedules_of_runs o
      WHERE o.identifier = schedules.identifier AND o.kind = schedules.kind AND o.name = schedules.name
        AND o.outcome IN (40, 50, 60, 90) AND o.run > coalesce(schedules.success, 0));
    UPDATE runs SET schedule = s.id FROM schedules s WHERE runs.id = s.run;
    UPDATE runs SET schedule = s.id FROM schedules s WHERE runs.id = s.success;
    DROP TABLE schedules_of_runs;
    """
  /// - `requests_claimed` has the claimed requests, of which there are few.
  /// - `handler_ns` is the duration of the handler's call on the monotonic clock; NULL if it was not called, or an older version wrote the
  ///   row.
  private static let version5 = """
    CREATE INDEX requests_claimed ON requests (identifier) WHERE state = 30;
    ALTER TABLE runs ADD COLUMN handler_ns INTEGER;
    """

  /// - `submitter` is the number of a plugin's identifier, 0 for all clients, -1 for what an older version wrote: it counts for everyone.
  private static let version9 = """
    CREATE TABLE submissions_of (
      submitter INTEGER NOT NULL, key TEXT NOT NULL, fingerprint INTEGER NOT NULL, request INTEGER NOT NULL, disposition INTEGER NOT NULL,
      submitted_ms INTEGER NOT NULL, PRIMARY KEY (submitter, key)
    ) STRICT;
    INSERT INTO submissions_of (submitter, key, fingerprint, request, disposition, submitted_ms)
      SELECT -1, key, fingerprint, request, disposition, submitted_ms FROM submissions;
    DROP TABLE submissions;
    ALTER TABLE submissions_of RENAME TO submissions;
    CREATE INDEX submissions_age ON submissions (submitted_ms);
    """

  /// - `pauses` never gives a number again: `set_aside` of a request may name a pause that has ended.
  private static let version10 = """
    CREATE TABLE pauses (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      filter TEXT NOT NULL,
      by TEXT NOT NULL,
      user INTEGER,
      reason TEXT,
      since_ms INTEGER NOT NULL,
      until_ms INTEGER
    ) STRICT;
    ALTER TABLE requests ADD COLUMN set_aside INTEGER;
    """

  /// Finds the dependants that failed because of a request (60), for a retry of that request.
  private static let edgesOfFailed = "CREATE INDEX edges_failed ON edges (predecessor) WHERE ended = 60;"

  /// - A part of a row (``SealedPart``) is in its plain columns, or else in `sealed`.
  /// - `seal_keys` has the names of the keys that the store may need, as signed numbers with the same bits.
  /// - `sealing` says how values are written: with `key`, or plain if that is NULL; whether each value is written so (`is_whole`); and
  ///   whether no unused space of the file can have a plain value (`is_clean`).
  private static let version13 = """
    ALTER TABLE payloads ADD COLUMN sealed BLOB;
    ALTER TABLE event_payloads ADD COLUMN sealed BLOB;
    ALTER TABLE checkpoints ADD COLUMN sealed BLOB;
    ALTER TABLE edges ADD COLUMN sealed BLOB;
    ALTER TABLE requests ADD COLUMN sealed BLOB;
    ALTER TABLE requests ADD COLUMN sealed_pause BLOB;
    ALTER TABLE runs ADD COLUMN sealed BLOB;
    ALTER TABLE runs ADD COLUMN sealed_report BLOB;
    ALTER TABLE state ADD COLUMN sealed BLOB;
    ALTER TABLE standing ADD COLUMN sealed BLOB;
    ALTER TABLE pauses ADD COLUMN sealed BLOB;
    ALTER TABLE submissions ADD COLUMN sealed BLOB;
    CREATE TABLE seal_keys (id INTEGER PRIMARY KEY) STRICT;
    CREATE TABLE sealing (
      id INTEGER PRIMARY KEY CHECK (id = 1), key INTEGER, is_whole INTEGER NOT NULL, is_clean INTEGER NOT NULL
    ) STRICT;
    INSERT INTO sealing (id, key, is_whole, is_clean) VALUES (1, NULL, 1, 0);
    """
}
