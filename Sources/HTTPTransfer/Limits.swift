/// The time limits of a request that has begun.
struct Limits {
  private let begin = ContinuousClock.now
  private let connectTimeout: Duration
  private let timeout: Duration?

  init(_ request: TransferRequest) {
    connectTimeout = min(request.connectTimeout, request.timeout ?? request.connectTimeout)
    timeout = request.timeout
  }

  /// Time left to connect; not positive once it is over.
  var connecting: Duration { connectTimeout - (ContinuousClock.now - begin) }

  /// Time left for the whole transfer; nil without a limit.
  var everything: Duration? { timeout.map { $0 - (ContinuousClock.now - begin) } }

  /// The failure if the connection takes too long.
  var failureToConnect: TransferFailure { connectTimeout == timeout ? .timedOut : .connectTimedOut }
}

extension Duration {
  /// Milliseconds, rounded up, at least 1, because 0 means no limit to libcurl.
  var milliseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < 1 << 30 else { return 1 << 40 }
    return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
  }
}
