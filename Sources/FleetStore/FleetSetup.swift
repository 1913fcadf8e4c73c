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
  ///   - lease: How long a host keeps its requests without a sign of life, for a new fleet.
  ///   - historyDays: How many days ended requests and runs are kept, for a new fleet.
  package static func run(_ address: String, lease: Duration, historyDays: Int) throws(FleetError) -> Outcome {
    do throws(PostgresError) {
      let connection = try PostgresConnection(address, name: "taskhost fleet init")
      let deadline = SystemClock.now + .seconds(60)
      let exists = try connection.run(
        PostgresStatement("SELECT to_regclass('taskhost.fleet') IS NOT NULL"), by: deadline
      ).flag(0, 0)
      let functions = FleetSchema.functions.map { PostgresStatement($0) }
      guard exists else {
        let origin = Int64(bitPattern: UInt64.random(in: 0...0x3FFF_FFFF_FFFF_FFFF))
        let row = PostgresStatement(
          "INSERT INTO taskhost.fleet (version, origin, lease_ms, history_days) VALUES ($1, $2, $3, $4)", .int(FleetSchema.version),
          .int(origin), .int(lease.wholeMilliseconds), .int(Int64(historyDays)))
        try connection.run(
          (FleetSchema.tables + FleetSchema.graphTables + FleetSchema.importTables).map { PostgresStatement($0) } + functions + [
            row, PostgresStatement("SELECT taskhost.keep_days()"),
          ],
          by: deadline)
        return .made
      }
      let version = try connection.run(PostgresStatement("SELECT version FROM taskhost.fleet"), by: deadline).int(0, 0) ?? 0
      guard version <= FleetSchema.version else { throw PostgresError(code: tooNew, "\(version)") }
      try connection.run(
        functions + [
          PostgresStatement("UPDATE taskhost.fleet SET version = $1", .int(FleetSchema.version)),
          PostgresStatement("SELECT taskhost.keep_days()"),
        ], by: deadline)
      return .updated(from: version)
    } catch {
      if error.code == tooNew, let found = Int64(error.message) { throw .version(found: found) }
      throw FleetError(error)
    }
  }

  private static let tooNew = "TH002"
}
