import FoundationEssentials
import Logging

/// What the refresher needs of the host during one run. Called from the run's task alone, but for ``grace``.
protocol RefreshHost: Sendable {
  var now: Date { get }

  /// Time left until the run is asked to stop; zero or less from then on.
  var remaining: Duration { get }

  /// Time left once the run was asked to stop. Called from any thread.
  var grace: Duration { get }

  func log(_ level: Logger.Level, _ message: String)

  func progress(_ completed: Int, of total: Int)

  /// The durable value of a key, nil if there is none.
  func state(_ key: String) throws -> [UInt8]?

  /// Stores a value, durable when this returns; nil removes it.
  func setState(_ key: String, _ value: [UInt8]?) throws
}
