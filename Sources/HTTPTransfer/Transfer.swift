internal import CCurl
import Synchronization

/// One request and its answer, through the system's libcurl, over a connection of its own.
public final class Transfer: Sendable {
  private let request: TransferRequest
  private let state = Mutex(State())

  private struct State {
    /// When the transfer has to end; nil if nobody has cancelled it.
    var end: ContinuousClock.Instant?
    var multi: Multi?
    /// The result of the look-up of the host's name.
    var lookup: Result<String, TransferFailure>?
  }

  /// Creates a transfer that has not begun.
  public init(_ request: TransferRequest) {
    self.request = request
  }

  /// Ends the transfer, or prevents its start. Any thread may call it, any number of times; the earliest end counts.
  ///
  /// - Parameter rest: How long it may still take. Default: it ends at once.
  public func cancel(after rest: Duration = .zero) {
    let end = ContinuousClock.now + max(.zero, rest)
    state.withLock { state in
      state.end = min(state.end ?? end, end)
      state.multi?.wake()
    }
  }

  /// How long it may still take; not positive if it has to end, nil without a limit.
  private var rest: Duration? { state.withLock(\.end).map { $0 - .now } }

  /// Sends the request and passes on the answer's body as it arrives. Blocks. Call it once.
  ///
  /// - Parameter take: Called on this thread with the head and each part of the body, never an empty part. False ends the transfer.
  /// - Returns: The head, once the body is complete or `take` has ended the transfer.
  public func run(_ take: (_ head: TransferHead, _ part: [UInt8]) -> Bool) throws(TransferFailure) -> TransferHead {
    try withoutActuallyEscaping(take) { (take) throws(TransferFailure) in
      let exchange = try Exchange(request) { take($0, Array($1)) }
      return try exchange.result(try carryOut(exchange))
    }
  }

  /// Sends the request and collects the answer. Blocks. Call it once.
  ///
  /// - Parameter mostBytes: Largest body; a larger one throws ``TransferFailure/bodyTooLarge(limit:)``.
  public func answer(mostBytes: Int) throws(TransferFailure) -> TransferAnswer {
    var body: [UInt8] = []
    let head = try run { _, part in
      body += part
      return body.count <= mostBytes
    }
    guard body.count <= mostBytes else { throw .bodyTooLarge(limit: mostBytes) }
    return TransferAnswer(head: head, body: body)
  }

  /// Runs the blocking `work` on its own thread, so that no thread of Swift's pool waits. Cancelling the task cancels the transfer.
  ///
  /// - Parameters:
  ///   - rest: How long the transfer may still take once the task is cancelled. Called then. Default: it ends at once.
  ///   - work: Calls ``run(_:)`` or ``answer(mostBytes:)``.
  public func onThread<Success: Sendable>(
    rest: @Sendable () -> Duration = { .zero },
    _ work: @escaping @Sendable (Transfer) throws(TransferFailure) -> Success
  ) async throws(TransferFailure) -> Success {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<Success, TransferFailure>, Never>) in
        do throws(TransferFailure) {
          try TransferThread.start {
            continuation.resume(returning: Result { () throws(TransferFailure) in try work(self) })
          }
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    } onCancel: {
      cancel(after: rest())
    }
    return try result.get()
  }

  private func carryOut(_ exchange: Exchange) throws(TransferFailure) -> CURLcode {
    let multi = try Multi()
    // No other thread wakes it after this, so it can be closed.
    defer {
      state.withLock { $0.multi = nil }
      multi.remove(exchange)
      multi.close()
    }
    state.withLock { $0.multi = multi }
    try exchange.prepare(try addresses(for: exchange, multi))
    if let rest, rest <= .zero { throw .cancelled }
    try multi.add(exchange)
    while true {
      let running = try multi.perform()
      if let (_, code) = multi.nextEnded() { return code }
      if running == 0 { throw .broken("libcurl lost the transfer") }
      let rest = self.rest
      if let rest, rest <= .zero { throw .cancelled }
      try multi.wait(milliseconds: rest?.milliseconds ?? Multi.longestWait)
    }
  }

  /// Looks up the host's name on a separate thread. A transfer that ends earlier does not wait for it.
  private func addresses(for exchange: Exchange, _ multi: Multi) throws(TransferFailure) -> String? {
    guard request.socketPath == nil, let name = HostName(url: request.url) else { return nil }
    try TransferThread.start { [self] in
      let result = Result { () throws(TransferFailure) in try name.lookUp() }
      state.withLock { state in
        state.lookup = result
        state.multi?.wake()
      }
    }
    while true {
      let rest = self.rest
      if let rest, rest <= .zero { throw .cancelled }
      if let result = state.withLock(\.lookup) { return try result.get() }
      let left = exchange.limits.connecting
      if left <= .zero { throw exchange.limits.failureToConnect }
      try multi.wait(milliseconds: min(left, rest ?? left).milliseconds)
    }
  }
}
