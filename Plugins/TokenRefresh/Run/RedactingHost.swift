import FoundationEssentials
import Logging

/// The host as the run uses it: whatever is logged passes the redactor, so that no secret can leave the plugin on a way that somebody forgot.
///
/// State goes through as it is. It is encoded, and a redactor that replaced a part of it would make it unreadable: what is put into it is
/// redacted before, as ``AccountRecord/redacted(by:)`` does.
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
