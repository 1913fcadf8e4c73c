import FoundationEssentials

/// An account's result in the run's output. It contains no secret.
struct AccountReport: Sendable, Equatable {
  let name: String
  var result: Result
  var expiresAt: Date?
  var refreshAt: Date?
  /// For ``Result/signedOut``: the OAuth error.
  var error: String?
  /// A sentence with the reason and the remedy.
  var detail: String?
  /// For ``Result/retry``: the delay that the server requested.
  var retryAfter: Duration?
  /// Where the access token is; nil unless the run answers a question.
  var place: TokenPlace?

  enum Result: String, Sendable, Encodable {
    case refreshed
    /// The access token is valid for longer than the margin.
    case notDue = "not_due"
    /// It is due, but the run only looked.
    case due
    /// Another process is refreshing it.
    case inProgress = "in_progress"
    /// There is no token file, or the server has refused its tokens permanently.
    case signedOut = "signed_out"
    /// A temporary failure.
    case retry
    /// An operator must correct the file, the settings or the disk.
    case failed
    /// The run had to end before it reached this account.
    case skipped
  }
}

extension AccountReport: Encodable {
  enum CodingKeys: String, CodingKey {
    case name, result, error, detail
    case tokenFile = "token_file"
    case tokenMember = "token_member"
    case expiresAt = "expires_at"
    case refreshAt = "refresh_at"
    case retryAfter = "retry_after_s"
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
    try container.encode(result, forKey: .result)
    try container.encodeIfPresent(error, forKey: .error)
    try container.encodeIfPresent(detail, forKey: .detail)
    try container.encodeIfPresent(place?.file, forKey: .tokenFile)
    try container.encodeIfPresent(place?.member, forKey: .tokenMember)
    try container.encodeIfPresent(Self.text(expiresAt), forKey: .expiresAt)
    try container.encodeIfPresent(Self.text(refreshAt), forKey: .refreshAt)
    try container.encodeIfPresent(retryAfter.map { Int64($0.inSeconds.rounded(.up)) }, forKey: .retryAfter)
  }

  private static func text(_ date: Date?) -> String? {
    date.flatMap { $0 == .distantPast ? nil : $0.formatted(.iso8601) }
  }
}

extension AccountReport {
  /// The report with another result and the reason for it.
  func with(_ result: Result, _ detail: String?) -> AccountReport {
    var report = self
    report.result = result
    report.detail = detail
    return report
  }

  /// The report of an account that is not refreshed because of `error`.
  func failed(_ error: any Error) -> AccountReport {
    if case .missing? = error as? TokenFileProblem { return with(.signedOut, "\(error)") }
    return with(.failed, "\(error)")
  }

  func redacted(by redactor: Redactor) -> AccountReport {
    var report = with(result, detail.map(redactor.redact))
    report.error = error.map(redactor.redact)
    return report
  }

  /// The report of an account whose tokens or client the server has refused permanently.
  func signedOut(_ refusal: AccountRecord.Refusal) -> AccountReport {
    var report = with(
      .signedOut, refusal.reason + " (sign in again, or correct the client's settings; the plugin tries again after such a change)")
    report.error = refusal.code
    return report
  }
}
