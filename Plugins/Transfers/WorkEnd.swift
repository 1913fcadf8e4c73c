import HTTPTransfer

/// How a transfer, or a step of it, ended.
enum WorkEnd {
  case done(bytes: Int64)
  /// At once, where it is now.
  case goOn
  /// At once, from the first byte.
  case again
  case failed(String, isTemporary: Bool, retryAfter: Duration? = nil)

  static func failed(_ failure: FileFailure) -> WorkEnd { .failed(failure.sentence, isTemporary: failure.isTemporary) }
}

extension TransferFailure {
  /// Whether another attempt may succeed.
  var isTemporary: Bool {
    switch self {
    case .invalidRequest, .unusableAuthorities, .untrusted, .headTooLarge, .bodyTooLarge, .badRedirect: false
    case .unresolved, .unreachable, .connectTimedOut, .timedOut, .insecure, .cancelled, .broken, .unreadable: true
    }
  }
}
