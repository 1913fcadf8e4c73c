internal import CCurl

/// Many transfers on one thread, which calls ``step(milliseconds:descriptors:)`` until all have ended. Connections are used again.
///
/// Everything is called on that thread. The system's resolver looks names up, on threads of libcurl.
public final class TransferGroup {
  private let multi: Multi
  private var running: [UnsafeMutableRawPointer: Running] = [:]
  /// Whether an interim answer was told in this step.
  private var hasToldInterim = false

  /// A transfer, and its exchange with the server that it has come to.
  private struct Running {
    let id: Int
    var request: TransferRequest
    var redirectsLeft: Int
    let takers: Takers
    var exchange: Exchange
  }

  /// Who is told about a transfer's answer.
  private struct Takers {
    let interim: (TransferHead) -> Void
    let body: (TransferHead, UnsafeRawBufferPointer) -> Bool
  }

  /// Bytes a second for all bodies together; nil sets no limit.
  private let bytesPerSecond: Int64?
  /// The number of transfers that the rate is divided by.
  private var sharers = 0

  /// Creates a group without transfers.
  ///
  /// - Parameter bytesPerSecond: For the bodies of all transfers together, in each direction; those that proceed have equal shares. nil
  ///   sets no limit.
  public init(bytesPerSecond: Int64? = nil) throws(TransferFailure) {
    self.bytesPerSecond = bytesPerSecond
    multi = try Multi()
  }

  deinit {
    for running in running.values { multi.remove(running.exchange) }
    multi.close()
  }

  /// The number of transfers that have not ended.
  public var count: Int { running.count }

  /// Begins a transfer.
  ///
  /// A redirect is followed as its status says: 307 and 308, and 301 and 302 unless the method is `POST`, repeat the request; 303 asks with
  /// `GET`. From `https`, only `https` is followed. Another origin (scheme, host, port) gets no headers of the request but a few that say
  /// nothing about who asks, such as `Accept` and `Range`.
  ///
  /// - Parameters:
  ///   - id: A number that ``step(milliseconds:descriptors:)`` returns when the transfer has ended.
  ///   - mostRedirects: How many redirects are followed; one more fails with ``TransferFailure/badRedirect(_:)``. With 0, a redirect is an
  ///     answer.
  ///   - interim: Told each interim answer (1xx), of the server that is asked at that moment.
  ///   - take: Called with the head and each part of the body, never an empty part. False ends the transfer, which then counts as complete.
  public func add(
    _ request: TransferRequest, id: Int, mostRedirects: Int = 0, interim: @escaping (_ head: TransferHead) -> Void = { _ in },
    _ take: @escaping (_ head: TransferHead, _ part: UnsafeRawBufferPointer) -> Bool
  ) throws(TransferFailure) {
    try begin(request, id, redirectsLeft: mostRedirects, follows: mostRedirects > 0, Takers(interim: interim, body: take))
  }

  private func begin(
    _ request: TransferRequest, _ id: Int, redirectsLeft: Int, follows: Bool, _ takers: Takers
  ) throws(TransferFailure) {
    var skipped = 0
    let tellInterim = { [unowned self] (head: TransferHead) in
      hasToldInterim = true
      takers.interim(head)
    }
    let exchange = try Exchange(request, takeInterim: tellInterim) { head, part in
      guard follows, Redirect.isOne(head) else { return takers.body(head, part) }
      // A short body is read, so that the connection can be used again.
      skipped += part.count
      return skipped <= Self.mostSkipped
    }
    try exchange.prepare(nil)
    try multi.add(exchange)
    sharers = 0
    running[exchange.handle] = Running(
      id: id, request: request, redirectsLeft: follows ? redirectsLeft : -1, takers: takers, exchange: exchange)
  }

  /// The longest body of a redirect that is read to its end.
  private static let mostSkipped = 65_536

  /// How many bytes of a transfer's body were sent or are about to be; 0 once it has ended.
  public func uploaded(_ id: Int) -> Int64 { running.values.first { $0.id == id }?.exchange.uploaded ?? 0 }

  /// Makes progress until a transfer has ended, an interim answer was told, the time is over, or one of the descriptors is readable.
  ///
  /// - Returns: The transfers that have ended.
  public func step(
    milliseconds: Int, descriptors: [Int32] = []
  ) throws(TransferFailure) -> [(id: Int, result: Result<TransferHead, TransferFailure>)] {
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    hasToldInterim = false
    while true {
      shareRate()
      _ = try multi.perform()
      let ended = takeEnded()
      let left = deadline - .now
      if !ended.isEmpty || hasToldInterim || left <= .zero { return ended }
      if try multi.wait(milliseconds: 1 + Int(left / .milliseconds(1)), descriptors: descriptors) { return [] }
    }
  }

  private func shareRate() {
    guard let bytesPerSecond, running.count != sharers else { return }
    sharers = running.count
    for transfer in running.values { transfer.exchange.limit(max(1, bytesPerSecond / Int64(sharers))) }
  }

  private func takeEnded() -> [(id: Int, result: Result<TransferHead, TransferFailure>)] {
    var ended: [(Int, Result<TransferHead, TransferFailure>)] = []
    while let (handle, code) = multi.nextEnded() {
      guard let transfer = running.removeValue(forKey: handle) else { continue }
      multi.remove(transfer.exchange)
      do throws(TransferFailure) {
        let head = try transfer.exchange.result(code)
        if try !follow(head, transfer) { ended.append((transfer.id, .success(head))) }
      } catch {
        ended.append((transfer.id, .failure(error)))
      }
    }
    return ended
  }

  /// Goes on where a redirect leads; false if the answer is not a redirect to follow.
  private func follow(_ head: TransferHead, _ transfer: Running) throws(TransferFailure) -> Bool {
    guard transfer.redirectsLeft >= 0, Redirect.isOne(head) else { return false }
    guard transfer.redirectsLeft > 0 else { throw .badRedirect("the server redirects again and again") }
    let next = try Redirect.follow(head, of: transfer.request)
    try begin(next, transfer.id, redirectsLeft: transfer.redirectsLeft - 1, follows: true, transfer.takers)
    return true
  }
}
