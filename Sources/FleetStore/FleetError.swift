/// Why a fleet's database did not do what it was asked. Nothing was changed, unless ``away(_:)`` says otherwise.
package enum FleetError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The database cannot be reached, or did not answer. What was under way may have been done or not.
  case away(String)
  /// The host's lease has ended: what it held belongs to others.
  case fenced
  /// What the host has seen has changed meanwhile. The same may work at once.
  case changed
  /// The database has no tables of a fleet.
  case notInitialised
  /// The database has tables of a version that this host does not know.
  case version(found: Int64)
  /// Anything else, in the database's words.
  case refused(String)

  /// What happened, and what to do.
  package var description: String {
    switch self {
    case .away(let reason): "the fleet's database cannot be reached (\(reason)): the host tries again"
    case .fenced: "the host's lease in the fleet has ended: it joins again"
    case .changed: "requests have just changed: look again"
    case .notInitialised: "the database has no fleet yet: make it with taskhost fleet init"
    case .version(let found) where found > FleetSchema.version:
      "the fleet's tables have version \(found), and this taskhost knows up to \(FleetSchema.version): install a newer one"
    case .version(let found):
      "the fleet's tables have version \(found), and this taskhost needs \(FleetSchema.oldestVersion): run taskhost fleet init"
    case .refused(let reason): "the fleet's database refused: \(reason)"
    }
  }

  init(_ error: PostgresError) {
    switch error.code {
    case _ where error.isFenced: self = .fenced
    case "TH002": self = .changed
    // The schema or a table or a function does not exist.
    case "3F000", "42P01", "42883": self = .notInitialised
    case _ where error.isLost || error.isMomentary: self = .away(error.description)
    default: self = .refused(error.description)
    }
  }
}
