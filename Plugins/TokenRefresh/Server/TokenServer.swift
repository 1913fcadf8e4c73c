import FoundationEssentials
import HTTPTransfer

/// Speaks HTTP with authorization servers: no redirects, no proxies, small answers, TLS checked against the system's roots.
///
/// Each exchange has its own connection and thread, which end with it.
struct TokenServer: Sendable {
  private static let longestConnect = Duration.seconds(4)

  /// Some servers refuse a request without one.
  private static let userAgent = "taskhost-token-refresh/1"

  /// Asks an issuer for its metadata (RFC 8414). This changes nothing at the server, so a cancelled task stops at once.
  ///
  /// If a page is not JSON, such as the one that a web application returns for any address, the next address is tried.
  func metadata(of issuer: EndpointURL, allowInsecureHTTP: Bool, trust: TrustedAuthorities, timeout: Duration, now: Date)
    async throws(ExchangeFailure) -> ServerMetadata
  {
    var seen: [String] = []
    var isUnreadable = false
    for address in ServerMetadata.addresses(of: issuer) {
      let request = Self.request(to: address, trust, timeout)
      let answer = try await exchange(request, to: issuer.display, trust: trust, redactor: Redactor())
      switch answer.status {
      case 200:
        if let members = answer.body.flatMap(TokenAnswer.object) {
          return try ServerMetadata(members, issuer: issuer, allowInsecureHTTP: allowInsecureHTTP)
        }
        isUnreadable = true
        seen.append("no JSON object of at most \(ServerAnswer.largestBody) bytes at \(address)")
      case 408, 425, 429, 500...:
        let wait = RetryAfter.parse(answer.retryAfter, date: answer.date, now: Int64(now.timeIntervalSince1970))
        throw .temporary(reason: "the metadata of \(issuer.display) is unavailable: the server answered \(answer.status)", retryAfter: wait)
      default: seen.append("\(answer.status) at \(address)")
      }
    }
    let reason = "\(issuer.display) has no metadata (\(seen.joined(separator: ", "))); correct issuer, or set token_endpoint instead"
    throw isUnreadable ? .temporary(reason: reason) : .misconfigured(reason: reason)
  }

  /// Sends a refresh request and reads the answer.
  ///
  /// - Parameters:
  ///   - redactor: Knows every secret of the request and the file.
  ///   - now: The local time, for a `Retry-After` date.
  ///   - rest: How long the server may still take to answer once the task is cancelled. Called then.
  ///   - received: Called with the body of a 2xx answer as soon as its text is complete, before the connection ends or the body is used.
  func refresh(
    _ request: TokenRequest, at endpoint: EndpointURL, trust: TrustedAuthorities, timeout: Duration, redactor: Redactor, now: Date,
    rest: @escaping @Sendable () -> Duration, received: @escaping @Sendable ([UInt8]) -> Void
  ) async throws(ExchangeFailure) -> TokenGrant {
    var post = Self.request(to: endpoint.text, trust, timeout)
    post.method = "POST"
    post.headers += [("Content-Type", "application/x-www-form-urlencoded"), ("Cache-Control", "no-store")]
    for header in request.headers {
      post.headers.removeAll { $0.name.lowercased() == header.name.lowercased() }
      post.headers.append(header)
    }
    post.body = Array(request.body.utf8)
    let answer = try await exchange(post, to: endpoint.display, trust: trust, redactor: redactor, rest: rest, received: received)
    return try TokenAnswer.read(answer, redactor: redactor, now: now)
  }

  private static func request(to address: String, _ trust: TrustedAuthorities, _ timeout: Duration) -> TransferRequest {
    var request = TransferRequest(url: address)
    request.moreAuthorities = trust.certificates
    request.connectTimeout = min(timeout, longestConnect)
    request.timeout = timeout
    request.headers = [("User-Agent", userAgent), ("Accept", "application/json"), ("Accept-Encoding", "identity")]
    return request
  }

  /// - Parameter received: Called with the body of a 2xx answer: as soon as its last byte arrives if it is a whole JSON object, otherwise
  ///   at the end with whatever has arrived.
  private func exchange(
    _ request: TransferRequest, to place: String, trust: TrustedAuthorities, redactor: Redactor,
    rest: @Sendable () -> Duration = { .zero }, received: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) async throws(ExchangeFailure) -> ServerAnswer {
    do throws(TransferFailure) {
      return try await Transfer(request).onThread(rest: rest) { transfer throws(TransferFailure) in
        var body: AnswerBody?
        // Once the text is complete, the rest of the connection does not matter.
        var whole: [UInt8]?
        let head = try transfer.run { head, part in
          var taken = body ?? AnswerBody(codings: Self.codings(head))
          whole = taken.take(part)
          body = taken
          if head.isSuccess, let whole { received(whole) }
          return whole == nil && !taken.isTooLarge
        }
        let text = whole ?? (body ?? AnswerBody(codings: [])).plain
        if whole == nil, head.isSuccess, let text { received(text) }
        return ServerAnswer(
          status: head.status, retryAfter: head.values("Retry-After").first, date: head.values("Date").first,
          location: head.values("Location").first, body: text)
      }
    } catch {
      throw Self.failure(error, place, request, trust, redactor)
    }
  }

  private static func codings(_ head: TransferHead) -> [String] {
    head.values("Content-Encoding").flatMap { $0.split { $0 == "," || $0 == " " || $0 == "\t" } }.map(String.init)
  }

  private static func failure(
    _ failure: TransferFailure, _ place: String, _ request: TransferRequest, _ trust: TrustedAuthorities, _ redactor: Redactor
  ) -> ExchangeFailure {
    switch failure {
    case .timedOut: .temporary(reason: "\(place) did not answer within \(request.timeout ?? .zero)")
    case .cancelled: .temporary(reason: "\(place) did not answer before the run had to end")
    case .unusableAuthorities: trust.unusable
    case .untrusted:
      .temporary(
        reason:
          "cannot talk to \(place): its TLS certificate is not valid here; check who issued it, its host name and this machine's clock")
    default: .temporary(reason: "cannot talk to \(place): \(redactor.clean("\(failure)"))")
    }
  }
}

extension TransferHead {
  fileprivate var isSuccess: Bool { (200...299).contains(status) }
}
