/// The limits of time of a request that has begun.
struct Limits {
  private let begin = ContinuousClock.now
  private let connectTimeout: Duration
  private let timeout: Duration?

  init(_ request: TransferRequest) {
    connectTimeout = min(request.connectTimeout, request.timeout ?? request.connectTimeout)
    timeout = request.timeout
  }

  var connecting: TimeLeft { TimeLeft(connectTimeout - (ContinuousClock.now - begin)) }

  /// What is left for everything; nil sets no limit.
  var everything: TimeLeft? { timeout.map { TimeLeft($0 - (ContinuousClock.now - begin)) } }

  /// What is over when no connection was made in time.
  var failureToConnect: TransferFailure { connectTimeout == timeout ? .timedOut : .connectTimedOut }

  struct TimeLeft {
    private let time: Duration

    init(_ time: Duration) {
      self.time = time
    }

    var isOver: Bool { time <= .zero }

    /// Rounded up, at least 1: libcurl takes 0 for no limit.
    var milliseconds: Int {
      let (seconds, attoseconds) = time.components
      guard seconds < 1 << 30 else { return 1 << 40 }
      return max(1, Int(seconds) * 1000 + Int((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000))
    }
  }
}
