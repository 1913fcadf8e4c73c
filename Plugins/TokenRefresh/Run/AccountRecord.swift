import FoundationEssentials

/// A run's record of an account for the next run, in the host's durable state. It contains no secret.
struct AccountRecord: Codable, Sendable, Equatable {
  /// The server's final refusal, which applies until ``Refusal/fingerprint`` changes.
  var refusal: Refusal?
  /// The earliest time at which the server wants another request.
  var notBefore: Date?
  /// Whether the last attempt failed temporarily. Such accounts come last in a run, so that a hanging server delays no other account.
  var isTroubled = false

  static func key(_ account: Account) -> String { "account/" + account.name }

  func redacted(by redactor: Redactor) -> AccountRecord {
    var record = self
    record.refusal = refusal?.redacted(by: redactor)
    return record
  }

  struct Refusal: Codable, Sendable, Equatable {
    /// SHA-256 over the token file and the client's settings and secret. If any of them changes, another attempt is worthwhile.
    var fingerprint: String
    var code: String
    var reason: String
    /// When the server refused; nil in a record of an older version.
    var since: Date?

    /// The refusal without secrets, fit to leave the plugin. The fingerprint stays, because it is a digest.
    func redacted(by redactor: Redactor) -> Refusal {
      Refusal(fingerprint: fingerprint, code: redactor.redact(code), reason: redactor.redact(reason), since: since)
    }
  }
}
