import AsyncHTTPClient
import FoundationEssentials
import NIOCore
import NIOHTTP1
import NIOPosix
import Synchronization

/// Speaks HTTP with authorization servers: no redirects, small answers, TLS checked against the system's roots.
///
/// One per run, with one thread of its own, so that after ``shutDown()`` nothing of it is left in the process.
final class TokenServer: Sendable {
  /// Longest time to make a connection. Less than the default grace of a run, which making one must not outlast.
  static let longestConnect = TimeAmount.seconds(4)

  /// Some servers refuse a request without one.
  private static let userAgent = "taskhost-token-refresh/1"

  private let threads: MultiThreadedEventLoopGroup
  private let client: HTTPClient

  init() {
    var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow, timeout: .init(connect: Self.longestConnect))
    // A connection that fails is reported at once; trying again is the host's business.
    configuration.connectionPool.retryConnectionEstablishment = false
    configuration.connectionPool.idleTimeout = .seconds(5)
    // Some servers compress what nobody asked them to compress, in ways that the client's own decompression does not know: see ContentCoding.
    configuration.decompression = .disabled
    threads = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    client = HTTPClient(eventLoopGroup: threads, configuration: configuration)
  }

  /// Closes every connection and ends the thread. Call once, when no request is under way.
  func shutDown() async {
    try? await client.shutdown()
    try? await threads.shutdownGracefully()
  }

  /// Asks an issuer for its metadata (RFC 8414). Nothing changes at the server, so a cancelled task just stops it.
  ///
  /// A page that is no JSON, such as a web application gives for any address, is no metadata: the next address is tried.
  func metadata(of issuer: EndpointURL, allowInsecureHTTP: Bool, trust: TrustedAuthorities, timeout: Duration, now: Date)
    async throws(ExchangeFailure) -> ServerMetadata
  {
    var seen: [String] = []
    var isUnreadable = false
    for address in ServerMetadata.addresses(of: issuer) {
      let answer = try await exchange(Self.request(to: address, trust), to: issuer.display, timeout: timeout, redactor: Redactor())
      switch answer.status {
      case 200:
        if let members = answer.body.flatMap(TokenAnswer.object) {
          return try ServerMetadata(members, issuer: issuer, allowInsecureHTTP: allowInsecureHTTP)
        }
        isUnreadable = true
        seen.append("no JSON object of at most \(ServerAnswer.largestBody) bytes at \(address)")
      case 408, 425, 429, 500...:
        let wait = RetryAfter.parse(answer.retryAfter, date: answer.date, now: now)
        throw .temporary(reason: "the metadata of \(issuer.display) cannot be had: the server answered \(answer.status)", retryAfter: wait)
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
  ///   - now: The time here, for a `Retry-After` date.
  ///   - received: Called with the body of a 2xx answer the moment its text is complete, before the connection ends or anybody acts on it.
  func refresh(
    _ request: TokenRequest, at endpoint: EndpointURL, trust: TrustedAuthorities, timeout: Duration, redactor: Redactor, now: Date,
    received: @escaping @Sendable ([UInt8]) -> Void
  ) async throws(ExchangeFailure) -> TokenGrant {
    var post = Self.request(to: endpoint.text, trust)
    post.method = .POST
    post.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
    post.headers.add(name: "Cache-Control", value: "no-store")
    for header in request.headers { post.headers.replaceOrAdd(name: header.name, value: header.value) }
    post.body = .bytes(ByteBuffer(string: request.body))
    let answer = try await exchange(post, to: endpoint.display, timeout: timeout, redactor: redactor, received: received)
    return try TokenAnswer.read(answer, redactor: redactor, now: now)
  }

  /// What every request has.
  private static func request(to address: String, _ trust: TrustedAuthorities) -> HTTPClientRequest {
    var request = HTTPClientRequest(url: address)
    request.tlsConfiguration = trust.configuration
    request.headers.add(name: "User-Agent", value: userAgent)
    request.headers.add(name: "Accept", value: "application/json")
    request.headers.add(name: "Accept-Encoding", value: "identity")
    return request
  }

  /// - Parameter received: Called with a whole JSON object in a 2xx answer as soon as its last byte is there, else with the body at its end.
  private func exchange(
    _ request: HTTPClientRequest, to place: String, timeout: Duration, redactor: Redactor,
    received: @escaping @Sendable ([UInt8]) -> Void = { _ in }
  ) async throws(ExchangeFailure) -> ServerAnswer {
    // An answer whose text is whole while the connection still has to say so. It counts, whatever becomes of the connection.
    let whole = Mutex<ServerAnswer?>(nil)
    do {
      return try await Deadline.limit(timeout) { [client] in
        let response = try await client.execute(request, deadline: .distantFuture)
        let isSuccess = (200...299).contains(response.status.code)
        var body = AnswerBody(codings: response.headers[canonicalForm: "Content-Encoding"].map(String.init))
        for try await part in response.body {
          let text = body.take(part.readableBytesView)
          if isSuccess, let text, whole.withLock({ $0 == nil }) {
            received(text)
            let answer = Self.answer(response, text)
            whole.withLock { $0 = answer }
          }
          if body.isTooLarge { break }
        }
        if let answer = whole.withLock({ $0 }) { return answer }
        let plain = body.plain
        if isSuccess, let plain { received(plain) }
        return Self.answer(response, plain)
      }
    } catch {
      if let answer = whole.withLock({ $0 }) { return answer }
      throw Self.failure(error, place, timeout, redactor)
    }
  }

  private static func answer(_ response: HTTPClientResponse, _ body: [UInt8]?) -> ServerAnswer {
    ServerAnswer(
      status: Int(response.status.code), retryAfter: response.headers.first(name: "Retry-After"),
      date: response.headers.first(name: "Date"), location: response.headers.first(name: "Location"), body: body)
  }

  private static func failure(_ error: any Error, _ place: String, _ timeout: Duration, _ redactor: Redactor) -> ExchangeFailure {
    if error is Deadline.Passed { return .temporary(reason: "\(place) did not answer within \(timeout)") }
    if error is CancellationError || (error as? HTTPClientError) == .cancelled {
      return .temporary(reason: "\(place) did not answer before the run had to end")
    }
    return .temporary(reason: "cannot talk to \(place): \(redactor.clean(describe(error)))")
  }

  /// A library's error in words for an operator.
  private static func describe(_ error: any Error) -> String {
    let text = String(describing: error)
    if text.contains("CERTIFICATE_VERIFY_FAILED") || text.contains("failedToValidateHostname") {
      return "its TLS certificate is not valid here; check who issued it, its host name and this machine's clock"
    }
    return text
  }
}
