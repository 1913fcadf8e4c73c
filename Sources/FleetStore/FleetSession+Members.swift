import HostThreads
import TaskModel

// What operators do to hosts.

extension FleetSession {
  /// Lets hosts with that name or incarnation take nothing more, or lets them go on. Returns how many there are.
  package func setDraining(_ isDraining: Bool, host: String) throws(FleetError) -> Int64 {
    try ask(
      PostgresStatement(
        """
        WITH changed AS (
          UPDATE taskhost.host SET draining = ($2 = 1) WHERE (name = $1 OR incarnation::text = $1) AND fenced IS NULL RETURNING 1)
        SELECT count(*) FROM changed
        """, .text(host), .int(isDraining ? 1 : 0))
    ).int(0, 0) ?? 0
  }

  /// Fences hosts with that name or incarnation at once: what they hold goes to others, and nothing that they still do counts. Their runs may
  /// go on: see ``askToLeave(_:)``.
  ///
  /// - Returns: How many hosts there are, and how many requests they held.
  package func fence(_ host: String, because reason: String) throws(FleetError) -> (hosts: Int64, requests: Int64) {
    let rows = try fencing([
      PostgresStatement(
        """
        WITH changed AS (
          UPDATE taskhost.host SET fenced = taskhost.now_ms(), reason = $2
          WHERE (name = $1 OR incarnation::text = $1) AND fenced IS NULL RETURNING 1)
        SELECT count(*) FROM changed
        """, .text(host), .text(reason)),
      PostgresStatement("SELECT taskhost.requeue_fenced()"),
    ])
    let freed = rows.last?.int(0, 0) ?? 0
    if freed > 0 { try notify() }
    return (rows.first?.int(0, 0) ?? 0, freed)
  }

  /// Asks for what waits for the rows of hosts. One that froze within a transaction holds its own: its session is ended once that has lasted for
  /// longer than a lease.
  private func fencing(_ statements: [PostgresStatement]) throws(FleetError) -> [PostgresRows] {
    let waiting = PostgresStatement("SELECT set_config('lock_timeout', '2s', true)")
    let end = SystemClock.now + lease + .seconds(4)
    while true {
      do throws(FleetError) { return Array(try ask([waiting] + statements).dropFirst()) } catch {
        guard error == .locked else { throw error }
        guard SystemClock.now < end else {
          throw .refused("a session holds the host's row, and could not be ended: see pg_locks for taskhost.host, and end it")
        }
        _ = try ask(PostgresStatement("SELECT taskhost.end_frozen()"))
      }
    }
  }

  /// Asks these incarnations of hosts to give up what they hold: a host stops its runs, and fences itself when they are dead.
  ///
  /// - Returns: Those that are not fenced yet.
  package func askToLeave(_ incarnations: [String]) throws(FleetError) -> [String] {
    let rows = try ask(
      PostgresStatement(
        """
        UPDATE taskhost.host SET leaving = coalesce(leaving, taskhost.now_ms())
        WHERE incarnation::text = ANY ($1) AND fenced IS NULL RETURNING incarnation::text
        """, .texts(incarnations)))
    return (0..<rows.count).compactMap { rows.text($0, 0) }
  }

  /// How far hosts have come that were asked to leave.
  package func leaving(_ incarnations: [String]) throws(FleetError) -> [LeavingHost] {
    let rows = try ask(
      PostgresStatement(
        """
        SELECT h.incarnation::text, h.renewals, h.fenced IS NOT NULL, h.reason = 'its lease ended',
          (SELECT count(*) FROM taskhost.claim c WHERE c.incarnation = h.incarnation)
        FROM taskhost.host h WHERE h.incarnation::text = ANY ($1)
        """, .texts(incarnations)))
    return (0..<rows.count).compactMap { row in
      guard let incarnation = rows.text(row, 0), let renewals = rows.int(row, 1) else { return nil }
      return LeavingHost(
        incarnation: incarnation, renewals: renewals, hasLeft: rows.flag(row, 2), wasSilent: rows.flag(row, 3), held: rows.int(row, 4) ?? 0)
    }
  }

  /// Fences those of these hosts that have not renewed since they were seen with these numbers of renewals, as ``renew(_:identifiers:silent:)``
  /// does for a host.
  package func fence(silent: [String: Int64]) throws(FleetError) {
    let freed = try fencing([
      PostgresStatement("SELECT taskhost.fence_silent($1, $2)", .texts(Array(silent.keys)), .ints(Array(silent.values)))
    ]).first?.int(0, 0)
    if (freed ?? 0) > 0 { try notify() }
  }
}

/// A host that was asked to leave.
package struct LeavingHost: Sendable, Hashable {
  package let incarnation: String
  /// How often it has renewed its lease.
  package let renewals: Int64
  /// Whether it is fenced: nothing of what it held runs there.
  package let hasLeft: Bool
  /// Whether it was fenced because it gave no sign of life.
  package let wasSilent: Bool
  /// The number of requests that it holds.
  package let held: Int64
}
