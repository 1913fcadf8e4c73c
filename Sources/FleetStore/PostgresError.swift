/// Why PostgreSQL did not do what it was asked.
struct PostgresError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The SQLSTATE; nil if the error does not come from a server.
  let code: String?
  /// PostgreSQL's own sentence.
  let message: String

  init(code: String? = nil, _ message: String) {
    (self.code, self.message) = (code, message)
  }

  /// The message with the SQLSTATE.
  var description: String { code.map { "\(message) (SQLSTATE \($0))" } ?? message }

  /// The code of an address that cannot be read: no server has this one.
  static let badAddress = "address"

  /// The SQLSTATE of a transaction that waited for one that waited for it.
  static let deadlock = "40P01"
  /// The code of a server that does not answer as one connects.
  static let silence = "silence"

  /// Whether the connection can be used no more. A commit that was under way may have been carried out or not.
  var isLost: Bool { code.map { $0.hasPrefix("57P") || $0.hasPrefix("08") || $0 == "25P03" } ?? true }

  /// Whether the same may work in a moment: two transactions stood in each other's way, or a lock was not given in time.
  var isMomentary: Bool { code.map { ["40001", "40P01", "55P03", "57014"].contains($0) || $0.hasPrefix("53") } ?? true }

  /// The lease of the host that asked has ended, as ``FleetSchema`` says it.
  var isFenced: Bool { code == "TH001" }
}
