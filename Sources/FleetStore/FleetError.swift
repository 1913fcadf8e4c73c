import TaskModel
import TaskStore

/// Why a fleet's database did not do what it was asked. Nothing was changed, unless ``away(_:)`` says otherwise.
package enum FleetError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The database cannot be reached, or did not answer, or did not do it in time (`isThere`). What was under way may have been done or not.
  case away(String, isThere: Bool = false)
  /// The host's lease has ended: what it held belongs to others.
  case fenced
  /// What the host has seen has changed meanwhile. The same may work at once.
  case changed
  /// The database's address cannot be read, in libpq's words.
  case badAddress(String)
  /// The database has no tables of a fleet.
  case notInitialised
  /// A table or a function is missing, in the database's words.
  case incomplete(String)
  /// The database has tables of a version that this host does not know.
  case version(found: Int64)
  /// Another transaction holds what this one needs, such as the same key of a request that it has not committed yet.
  case locked
  /// What stands against it, in words for people.
  case barred(String)
  /// The database cannot hold a value, in its own words: the same will be refused again.
  case unfit(String)
  /// The user may not do it, in the database's words.
  case unpermitted(String)
  /// Anything else, in the database's words.
  case refused(String)

  /// Whether it is worth a line in the log after `before`, which was the last one; nil for none. The words of a database that is away change as
  /// it comes and goes.
  package func isNews(after before: FleetError?) -> Bool {
    if case .away = before, case .away = self { return false }
    return before != self
  }

  /// What to do about a database that cannot be reached.
  package static let reaching = "see that it runs, and that the address, the user, its password and the certificates are right"

  /// What happened, and what to do.
  package var description: String {
    switch self {
    case .away(let reason, isThere: false): "the fleet's database cannot be reached (\(reason))"
    case .away(let reason, isThere: true): "the fleet's database did not do what it was asked (\(reason)): see taskhost fleet doctor"
    case .badAddress(let reason):
      "the address of the fleet's database cannot be read (\(reason)): write it as postgres://USER@HOST/DATABASE or host=HOST dbname=DATABASE"
    case .fenced: "the host's lease in the fleet has ended: it joins again"
    case .changed: "requests have just changed: look again"
    case .locked:
      "another transaction in the fleet's database adds the same key, or the first request with the same needs, and has not ended"
    case .barred(let reason): reason
    case .unfit(let reason): "the fleet's database cannot hold it: \(reason)"
    case .notInitialised: "the database has no fleet yet: make it with taskhost fleet init"
    case .incomplete(let reason):
      "the fleet's tables are not complete (\(reason)): taskhost fleet init makes its functions anew; a table comes back from a backup"
    case .version(let found) where found > FleetSchema.version:
      "the fleet's tables have version \(found), and this taskhost knows up to \(FleetSchema.version): install a newer one"
    case .version(let found):
      "the fleet's tables have version \(found), and this taskhost needs \(FleetSchema.oldestVersion): run taskhost fleet init"
    case .unpermitted(let reason):
      "the fleet's database refused: \(reason): let the role own the schema taskhost, or be a member of the role that does, "
        + "and inherit its rights; to make it, a role needs CREATE on the database"
    case .refused(let reason): "the fleet's database refused: \(reason)"
    }
  }

  /// A request whose record no host of this version can read.
  static func unreadable(_ id: RequestID, _ flaw: RecordText.Flaw) -> FleetError {
    .barred("request \(id) of the fleet cannot be read (\(flaw)): taskhost fleet doctor says what to do")
  }

  init(_ error: PostgresError) {
    switch error.code {
    case _ where error.isFenced: self = .fenced
    case "TH002", "23505": self = .changed
    case "TH003": self = .barred(error.message)
    case PostgresError.badAddress: self = .badAddress(error.message)
    case "3F000": self = .notInitialised
    case "42P01" where error.message.contains("\"taskhost.fleet\""): self = .notInitialised
    case "42P01", "42883": self = .incomplete(error.description)
    case "42501": self = .unpermitted(error.description)
    case "55P03": self = .locked
    case "25006":
      self = .refused(
        "\(error.description): name the primary in the address, with target_session_attrs=read-write, and see default_transaction_read_only "
          + "of the role and the database")
    case let code? where code.hasPrefix("22") || code.hasPrefix("54"): self = .unfit(error.description)
    case _ where error.isLost || error.isMomentary: self = .away(error.description, isThere: !error.isLost)
    default: self = .refused(error.description)
    }
  }
}
