import FoundationEssentials
import HTTPTransfer
import StrictText

/// The meaning of a token endpoint's answer (RFC 6749 §5).
///
/// An error is final only if it cannot pass by itself: an OAuth error that says so, status 401, or a 400 without any OAuth error, which
/// some servers send for a refresh token that they no longer know. An unknown error code, or a 403 or 404 such as a proxy sends during an
/// upgrade, counts as temporary, so that no brief failure signs a user out.
enum TokenAnswer {
  /// Final error codes: of RFC 6749, of OpenID Connect where a person has to act, and names that some servers invented.
  static let finalErrors: Set<String> = [
    "invalid_grant", "invalid_client", "invalid_request", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
    "access_denied", "interaction_required", "login_required", "consent_required", "account_selection_required",
    "bad_refresh_token", "invalid_refresh_token", "incorrect_client_credentials",
  ]

  /// - Parameters:
  ///   - redactor: Knows the secrets of the exchange; every quotation from the answer goes through it.
  ///   - now: The local time, for a `Retry-After` date.
  static func read(_ answer: ServerAnswer, redactor: Redactor, now: Date) throws(ExchangeFailure) -> TokenGrant {
    let members = answer.body.flatMap(object)
    // A refusal may contain tokens too.
    if let members { redactor.learn(SecretMembers.find(in: members)) }
    let error = members.flatMap { OAuthError.find(in: $0, redactor) }
    switch answer.status {
    case 200...299:
      if let grant = members.flatMap(TokenGrant.init) { return grant }
      if let error { throw refusal(error, answer, now) }
      let seen = answer.body == nil ? "a body of more than \(ServerAnswer.largestBody) bytes" : "no JSON with an access_token"
      throw .temporary(reason: "the server answered \(answer.status) with \(seen); it may still have rotated the refresh token")
    case 300...399:
      let target = answer.location.flatMap { try? EndpointURL($0, allowInsecureHTTP: true) }
      let place = target.map { " to \(redactor.quote($0.origin))" } ?? ""
      throw .misconfigured(reason: "the server redirects\(place), which is not followed with secrets; set the server's actual address")
    case 401:
      let error = error ?? OAuthError(code: "http_401", text: "the server answered 401")
      throw .rejected(code: error.code, reason: error.text)
    case 400:
      if let error { throw refusal(error, answer, now) }
      throw .rejected(code: "http_400", reason: "the server answered 400 without an OAuth error")
    case 408, 425, 429, 500...:
      throw temporary("the server answered \(answer.status)\(error.map { ": \($0.text)" } ?? "")", answer, now)
    default:
      if let error { throw refusal(error, answer, now) }
      throw temporary("the server answered \(answer.status), which no token endpoint does; check its address", answer, now)
    }
  }

  static func object(_ body: [UInt8]) -> [String: JSONValue]? {
    guard case .object(let members)? = try? JSONDecoder().decode(JSONValue.self, from: Data(body)) else { return nil }
    return members
  }

  private static func refusal(_ error: OAuthError, _ answer: ServerAnswer, _ now: Date) -> ExchangeFailure {
    finalErrors.contains(error.code)
      ? .rejected(code: error.code, reason: error.text) : temporary("the server answered \(answer.status): \(error.text)", answer, now)
  }

  private static func temporary(_ reason: String, _ answer: ServerAnswer, _ now: Date) -> ExchangeFailure {
    .temporary(reason: reason, retryAfter: RetryAfter.parse(answer.retryAfter, date: answer.date, now: Int64(now.timeIntervalSince1970)))
  }

  /// An error answer (RFC 6749 §5.2), safe for a log.
  private struct OAuthError {
    let code: String
    let text: String

    /// nil if the answer has no `error`.
    static func find(in members: [String: JSONValue], _ redactor: Redactor) -> OAuthError? {
      guard let named = members["error"]?.text else { return nil }
      let code = isCode(named) ? redactor.redact(named) : redactor.quote(named)
      return OAuthError(code: code, text: members["error_description"]?.text.map { "\(code): \(redactor.quote($0))" } ?? code)
    }

    /// Whether the text has the form of OAuth and OpenID Connect errors.
    private static func isCode(_ text: String) -> Bool {
      (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "_") }
    }
  }
}
