internal import CCurl
import Glibc

/// Why a transfer has no answer, or only part of one. No text contains headers or the body of the request; some name the host.
public enum TransferFailure: Error, Equatable {
  /// The request is invalid.
  case invalidRequest(String)
  /// ``TransferRequest/moreAuthorities`` cannot be read.
  case unusableAuthorities
  /// The host's name has no address.
  case unresolved(String)
  /// No connection; `code` is the `errno` of the last attempt, 0 if unknown.
  case unreachable(code: Int32)
  /// No connection within ``TransferRequest/connectTimeout``.
  case connectTimedOut
  /// No complete answer within ``TransferRequest/timeout``.
  case timedOut
  /// The server's certificate is not valid.
  case untrusted(String)
  /// TLS failed for another reason.
  case insecure(String)
  /// Status line and headers exceed ``TransferRequest/mostHeadBytes``.
  case headTooLarge(limit: Int)
  /// The body exceeds the caller's limit.
  case bodyTooLarge(limit: Int)
  /// The server redirects in a way that is not followed.
  case badRedirect(String)
  /// The file to send cannot be read, or is shorter than it was; the `errno`, 0 if it is shorter.
  case unreadable(code: Int32)
  /// ``Transfer/cancel()`` was called, or the task was cancelled.
  case cancelled
  /// The connection broke, or the answer is not HTTP.
  case broken(String)
}

extension TransferFailure: CustomStringConvertible {
  /// What happened.
  public var description: String {
    switch self {
    case .invalidRequest(let reason): "the request cannot be sent: \(reason)"
    case .unusableAuthorities: "the certificates of the authorities to trust cannot be read"
    case .unresolved(let reason): reason
    case .unreachable(0): "no connection could be made"
    case .unreachable(let code): "no connection could be made: \(String(cString: strerror(code)))"
    case .connectTimedOut: "no connection could be made in time"
    case .timedOut: "no answer came in time"
    case .untrusted(let reason): "the server's certificate is not valid here: \(reason)"
    case .insecure(let reason): "no secure connection: \(reason)"
    case .headTooLarge(let limit): "the headers of the answer exceed \(limit) bytes"
    case .bodyTooLarge(let limit): "the answer exceeds \(limit) bytes"
    case .badRedirect(let reason): reason
    case .unreadable(0): "the file became shorter while it was sent"
    case .unreadable(let code): "the file cannot be read: \(String(cString: strerror(code)))"
    case .cancelled: "the transfer was cancelled"
    case .broken(let reason): reason
    }
  }
}

extension TransferFailure {
  /// - Parameters:
  ///   - text: libcurl's message.
  ///   - isConnected: Whether the connection was ready for the request.
  init(_ code: CURLcode, _ text: String, systemError: Int32, isConnected: Bool) {
    switch code {
    case CURLE_URL_MALFORMAT, CURLE_LOGIN_DENIED: self = .invalidRequest(text)
    case CURLE_UNSUPPORTED_PROTOCOL where !isConnected: self = .invalidRequest(text)
    case CURLE_SSL_CACERT_BADFILE: self = .unusableAuthorities
    case CURLE_COULDNT_RESOLVE_HOST: self = .unresolved(text)
    case CURLE_COULDNT_CONNECT: self = .unreachable(code: systemError)
    case CURLE_PEER_FAILED_VERIFICATION: self = .untrusted(text)
    case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ENGINE_INITFAILED, CURLE_USE_SSL_FAILED:
      self = .insecure(text)
    default: self = .broken(text)
    }
  }
}
