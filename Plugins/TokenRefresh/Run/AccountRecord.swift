import FoundationEssentials

/// What one run stores about an account for the next, in the host's durable state. It holds no secret.
struct AccountRecord: Codable, Sendable, Equatable {
  /// The server's final refusal, until what it refused changes.
  var refusal: Refusal?
  /// The server does not want to be asked before this time.
  var notBefore: Date?
  /// Whether the last attempt ended in temporary trouble. Such accounts come last in a run, so that a hanging server delays nobody.
  var isTroubled = false

  static func key(_ account: Account) -> String { "account/" + account.name }

  func redacted(by redactor: Redactor) -> AccountRecord {
    var record = self
    record.refusal = refusal?.redacted(by: redactor)
    return record
  }

  struct Refusal: Codable, Sendable, Equatable {
    /// SHA-256 over the token file and the client's settings and secret: a change of any of them makes another try worthwhile.
    var fingerprint: String
    var code: String
    var reason: String
    /// When the server refused; nil in a record of an older version.
    var since: Date?

    /// The refusal as it may leave the plugin. The fingerprint is a digest, and stays.
    func redacted(by redactor: Redactor) -> Refusal {
      Refusal(fingerprint: fingerprint, code: redactor.redact(code), reason: redactor.redact(reason), since: since)
    }
  }
}
