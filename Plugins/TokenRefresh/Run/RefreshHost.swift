import FoundationEssentials
import Logging

/// The host functions that the refresher needs during one run. Called only from the run's task, except ``grace``.
protocol RefreshHost: Sendable {
  var now: Date { get }

  /// The time until the run is asked to stop; zero or less after that.
  var remaining: Duration { get }

  /// The time left after the run was asked to stop. Called from any thread.
  var grace: Duration { get }

  func log(_ level: Logger.Level, _ message: String)

  func progress(_ completed: Int, of total: Int)

  /// The durable value of a key; nil if there is none.
  func state(_ key: String) throws -> [UInt8]?

  /// Stores a value, durable when this returns; nil removes it.
  func setState(_ key: String, _ value: [UInt8]?) throws

  /// Raises an event, durable when this returns.
  func raise(_ event: RefreshEvent, _ payload: RaisedPayload) throws
}

/// The host as the run uses it. Every log line passes the redactor, so that no secret leaves the plugin on an overlooked path.
///
/// State and the payloads of events pass unchanged, because a redactor could make encoded state unreadable. Redact values before encoding them, as
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

  func raise(_ event: RefreshEvent, _ payload: RaisedPayload) throws { try host.raise(event, payload) }
}
