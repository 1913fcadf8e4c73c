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
      if let reason = unfitEncoding(encoding) { throw PostgresError(code: unfit, reason) }
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
            row, FleetSession.keepDays(SystemClock().wallTime), PostgresStatement("SELECT taskhost.recognise()"),
          ],
          by: deadline)
        return .made
      }
      let fleet = try connection.run(PostgresStatement("SELECT version, lease_ms FROM taskhost.fleet"), by: deadline)
      guard let version = fleet.int(0, 0) else { throw PostgresError(code: incomplete, "the row of taskhost.fleet is missing") }
      guard version <= FleetSchema.version else { throw PostgresError(code: tooNew, "\(version)") }
      if let lease, let known = fleet.int(0, 1), known != lease.wholeMilliseconds {
        throw PostgresError(code: otherLease, "\(known)")
      }
      let missing = try connection.run(
        PostgresStatement(FleetSchema.missingTables, .texts(FleetSchema.firstTableNames)), by: deadline)
      guard missing.count == 0 else {
        let names = (0..<missing.count).compactMap { missing.text($0, 0) }
        throw PostgresError(code: incomplete, names.joined(separator: ", ") + " is missing")
      }
      let repairs = FleetSchema.ownership + FleetSchema.corrections + FleetSchema.indexRepairs + FleetSchema.sequenceRepairs
      let update = PostgresStatement(
        "UPDATE taskhost.fleet SET version = $1, history_days = coalesce($2, history_days)", .int(FleetSchema.version),
        .int(historyDays.map { Int64($0) }))
      // Hosts go on meanwhile, and take their locks in another order.
      let rows = try connection.transact(
        [patience] + repairs.map { PostgresStatement($0) } + functions + [
          update, FleetSession.keepDays(SystemClock().wallTime), PostgresStatement("SELECT taskhost.recognise()"),
          FleetSession.missingDays,
        ], by: deadline)
      for repair in FleetSchema.lateRepairs {
        try connection.transact([patience, PostgresStatement(repair)], by: SystemClock.now + .seconds(60))
      }
      if let days = rows.last.map(FleetSession.texts), !days.isEmpty {
        throw PostgresError(code: incomplete, "\(days.joined(separator: ", ")) of the history could not be made: see taskhost fleet doctor")
      }
      return .updated(from: version)
    } catch {
      switch error.code {
      case tooNew: throw .version(found: Int64(error.message) ?? 0)
      case otherLease:
        throw .refused("its leases last \(error.message) ms, on which its hosts rely: another length needs a new fleet")
      case unfit: throw .refused(error.message)
      case incomplete: throw .incomplete(error.message)
      case "23505": throw .refused(error.description)
      case "55P03":
        throw .refused("sessions hold locks on the fleet's tables, of which something is to be made anew: try again when they have ended")
      default: throw FleetError(error)
      }
    }
  }

  /// What is to be changed may be locked for hours: hosts wait behind this, so it waits only for a moment. A server that waits for a lock does not
  /// notice that its client has gone.
  private static let patience = PostgresStatement(
    "SELECT set_config('lock_timeout', '5s', true), set_config('statement_timeout', '50s', true)")

  /// What a payload or a message says, a database in another encoding than UTF-8 may not be able to hold.
  static func unfitEncoding(_ encoding: String?) -> String? {
    guard encoding != "UTF8" else { return nil }
    return "its encoding is \(encoding ?? "unknown"): make a database with ENCODING 'UTF8' (and TEMPLATE template0)"
  }

  /// Codes of what this finds out itself: no server has them.
  private static let (tooNew, otherLease, unfit, incomplete) = ("newer", "lease", "unfit", "incomplete")
}
