/// What an address of a database is good for.
package enum FleetAddress: Sendable, Hashable {
  case sound
  /// It says a password, which whoever reads the configuration, or sees the program's arguments, knows then.
  case hasPassword
  /// libpq cannot read it, for this reason.
  case unreadable(String)

  /// Reads an address as a connection would, without connecting; nil if this machine has no libpq, which a connection needs.
  package static func read(_ address: String) -> FleetAddress? { PostgresConnection.check(address) }
}
