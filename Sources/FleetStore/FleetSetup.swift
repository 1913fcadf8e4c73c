import HostThreads
import TaskModel

/// Makes the tables of a fleet, or brings those of an older version up to date.
package enum FleetSetup {
  /// What was done.
  package enum Outcome: Sendable, Hashable {
    case made
    /// The tables had an older version, or this one already.
    case updated(from: Int64)
  }

  /// Makes or updates the tables, in one transaction.
  ///
  /// - Parameters:
  ///   - lease: How long a host keeps its requests without a sign of life; nil for 10 s, or what an existing fleet has. It cannot be
  ///     changed: hosts rely on each other's.
  ///   - historyDays: How many days ended requests and runs are kept; nil for 30, or what an existing fleet has.
  package static func run(_ address: String, lease: Duration? = nil, historyDays: Int? = nil) throws(FleetError) -> Outcome {
    do throws(PostgresError) {
      let connection = try PostgresConnection(address, name: "taskhost fleet init")
      let deadline = SystemClock.now + .seconds(60)
      let encoding = try connection.run(PostgresStatement("SELECT current_setting('server_encoding')"), by: deadline).text(0, 0)
      do { try checkEncoding(encoding) } catch { throw PostgresError(code: wrongEncoding, "\(error)") }
      let exists = try connection.run(
        PostgresStatement("SELECT to_regclass('taskhost.fleet') IS NOT NULL"), by: deadline
      ).flag(0, 0)
      let functions = FleetSchema.functions.map { PostgresStatement($0) }
      guard exists else {
        let origin = Int64(bitPattern: UInt64.random(in: 0...0x3FFF_FFFF_FFFF_FFFF))
        let row = PostgresStatement(
          "INSERT INTO taskhost.fleet (version, origin, lease_ms, history_days) VALUES ($1, $2, $3, $4)", .int(FleetSchema.version),
          .int(origin), .int((lease ?? .seconds(10)).wholeMilliseconds), .int(Int64(historyDays ?? 30)))
        try connection.run(
          FleetSchema.allTables.map { PostgresStatement($0) } + functions + [
            row, PostgresStatement("SELECT taskhost.keep_days()"),
          ],
          by: deadline)
        return .made
      }
      let fleet = try connection.run(PostgresStatement("SELECT version, lease_ms FROM taskhost.fleet"), by: deadline)
      let version = fleet.int(0, 0) ?? 0
      guard version <= FleetSchema.version else { throw PostgresError(code: tooNew, "\(version)") }
      if let lease, let known = fleet.int(0, 1), known != lease.wholeMilliseconds {
        throw PostgresError(code: otherLease, "\(known)")
      }
      let missing = try connection.run(
        PostgresStatement(FleetSchema.missingTables, .texts(FleetSchema.firstTableNames)), by: deadline)
      guard missing.count == 0 else {
        throw PostgresError(code: "42P01", (0..<missing.count).compactMap { missing.text($0, 0) }.joined(separator: ", ") + " is missing")
      }
      try connection.run(
        (FleetSchema.corrections + FleetSchema.indexRepairs).map { PostgresStatement($0) } + functions + [
          PostgresStatement(
            "UPDATE taskhost.fleet SET version = $1, history_days = coalesce($2, history_days)", .int(FleetSchema.version),
            .int(historyDays.map { Int64($0) })),
          PostgresStatement("SELECT taskhost.keep_days()"),
        ], by: deadline)
      return .updated(from: version)
    } catch {
      switch error.code {
      case tooNew: throw .version(found: Int64(error.message) ?? 0)
      case otherLease:
        throw .refused("its leases last \(error.message) ms, on which its hosts rely: another length needs a new fleet")
      case wrongEncoding: throw .refused(error.message)
      default: throw FleetError(error)
      }
    }
  }

  /// What a payload or a message says, a database in another encoding than UTF-8 may not be able to hold.
  static func checkEncoding(_ encoding: String?) throws(FleetError) {
    guard encoding != "UTF8" else { return }
    throw .refused("its encoding is \(encoding ?? "unknown"): make a database with ENCODING 'UTF8' (and TEMPLATE template0)")
  }

  private static let (tooNew, otherLease, wrongEncoding) = ("newer", "lease", "encoding")
}
