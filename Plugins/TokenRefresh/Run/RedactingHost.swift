import FoundationEssentials
import Logging

/// The host as the run uses it: whatever is logged or stored passes the redactor, so that no secret can leave the plugin on a way that
/// somebody forgot.
struct RedactingHost<Host: RefreshHost>: RefreshHost {
  let host: Host
  let redactor: Redactor

  var now: Date { host.now }

  var remaining: Duration { host.remaining }

  var grace: Duration { host.grace }

  func log(_ level: Logger.Level, _ message: String) { host.log(level, redactor.redact(message)) }

  func progress(_ completed: Int, of total: Int) { host.progress(completed, of: total) }

  func state(_ key: String) throws -> [UInt8]? { try host.state(key) }

  func setState(_ key: String, _ value: [UInt8]?) throws {
    try host.setState(key, value.map { Array(redactor.redact(String(decoding: $0, as: UTF8.self)).utf8) })
  }
}
