import HostThreads
import TaskModel

/// A server that an address of a fleet's database names, by itself.
package struct FleetServer: Sendable, Hashable {
  /// What people call it.
  package let name: String
  /// When it was started, as text: two names with the same moment are one server.
  package var started: String?
  /// Whether it takes writes.
  package var isPrimary = false
  /// Why it does not answer; nil if it does.
  package var failure: String?

  /// Asks each server of an address, one after the other; none if the address names one only.
  package static func all(_ address: String) -> [FleetServer] {
    guard let servers = try? PostgresServerList(address).each, servers.count > 1 else { return [] }
    return servers.map { server in
      var found = FleetServer(name: server.all.first?.shownName ?? "")
      do throws(PostgresError) {
        let connection = try PostgresConnection(address, name: "taskhost fleet doctor", only: server)
        let state = try connection.run(
          PostgresStatement("SELECT pg_postmaster_start_time()::text, NOT pg_is_in_recovery()"), by: SystemClock.now + server.timeout)
        (found.started, found.isPrimary) = (state.text(0, 0), state.flag(0, 1))
      } catch { found.failure = error.message }
      return found
    }
  }
}
