import Glibc
import HostThreads
import Logging
import NIOCore
import NIOHTTP1
import StrictText
import Synchronization
import TaskModel

/// Decides at the head of a request over TCP who sends it. Any thread.
final class RemoteDoor: Sendable {
  let tokens: TokenKeeper
  private let failures = FailedAttempts()
  /// Wrong tokens are logged, but nobody can fill the log with them.
  private let logged = Mutex(RateAllowance(burst: 10, perSecond: 1))
  private let logger: Logger

  init(_ tokens: TokenKeeper, logger: Logger) { (self.tokens, self.logger) = (tokens, logger) }

  /// What is answered without a token.
  static let unauthorized = challenge(
    "over TCP, the host asks for a token: send Authorization: Bearer TOKEN; taskhost tokens create makes one", nil)

  /// Who sends a request with these headers; or the answer that refuses it.
  ///
  /// A right token is never refused because of wrong ones from its address: guessing is hopeless, and others must not lock its owner out.
  func admit(_ headers: HTTPHeaders, from remote: SocketAddress?) -> Result<Principal, RefusedEntry> {
    let address = Self.text(of: remote)
    let shown = headers["authorization"]
    guard !shown.isEmpty else { return .success(.nobody(address: address)) }
    if shown.count == 1, let token = Self.bearer(shown[0]), let record = tokens.record(of: token) {
      return .success(.token(record, address: address))
    }
    let wait = failures.count(Self.network(of: remote), at: SystemClock.now)
    let (isLogged, unlogged) = logged.withLock { logged in
      let passes = logged.pass(at: SystemClock.now)
      return (passes, passes ? logged.takeRefused() : 0)
    }
    if isLogged {
      logger.warning("a client showed no valid token", metadata: ["address": "\(address)", "not_logged_before": "\(unlogged)"])
    }
    guard let wait else {
      return .failure(
        RefusedEntry(
          Self.challenge(
            "the token is not valid: it may have been revoked, or belong to another host (taskhost tokens list)", "invalid_token")))
    }
    let seconds = max(1, wait.components.seconds + 1)
    var response = ControlResponse.failure(
      .tooManyRequests, code: "limit", "too many wrong tokens from your address: wait \(seconds) s")
    response.headers.add(name: "retry-after", value: "\(seconds)")
    return .failure(RefusedEntry(response))
  }

  /// The answer that refuses a request at its head.
  struct RefusedEntry: Error {
    let response: ControlResponse

    init(_ response: ControlResponse) { self.response = response }
  }

  /// - Source: RFC 6750, 2.1; the scheme's case does not matter (RFC 9110, 11.1).
  private static func bearer(_ value: String) -> ControlToken? {
    let parts = value.split(separator: " ")
    return parts.count == 2 && parts[0].lowercased() == "bearer" ? ControlToken(parts[1]) : nil
  }

  private static func challenge(_ message: String, _ error: String?) -> ControlResponse {
    var response = ControlResponse.failure(.unauthorized, code: "unauthorized", message)
    response.headers.add(name: "www-authenticate", value: "Bearer realm=\"taskhost\"" + (error.map { ", error=\"\($0)\"" } ?? ""))
    return response
  }

  /// `192.0.2.7:50312`
  static func text(of address: SocketAddress?) -> String {
    guard let address, let host = address.ipAddress else { return "unknown" }
    return HostPortText.text(host, address.port ?? 0)
  }

  /// What counts as one address: an IPv4 address, or the half of an IPv6 address that names a network.
  private static func network(of address: SocketAddress?) -> String {
    let text = address?.ipAddress ?? ""
    var bytes = [UInt8](repeating: 0, count: 16)
    guard text.contains(":"), inet_pton(AF_INET6, text, &bytes) == 1 else { return text }
    return Hex.text(bytes.prefix(8))
  }
}
