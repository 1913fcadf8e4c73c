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

/// The host as the run uses it: every log line passes the redactor, so that no forgotten path lets a secret leave the plugin.
///
/// State passes unchanged, because a redactor could make encoded state unreadable. Redact values before you encode them, as
/// ``AccountRecord/redacted(by:)`` does.
struct RedactingHost<Host: RefreshHost>: RefreshHost {
  let host: Host
  let redactor: Redactor

  var now: Date { host.now }

  var remaining: Duration { host.remaining }

  var grace: Duration { host.grace }

  func log(_ level: Logger.Level, _ message: String) { host.log(level, redactor.redact(message)) }

  func progress(_ completed: Int, of total: Int) { host.progress(completed, of: total) }

  func state(_ key: String) throws -> [UInt8]? { try host.state(key) }

  func setState(_ key: String, _ value: [UInt8]?) throws { try host.setState(key, value) }
}
