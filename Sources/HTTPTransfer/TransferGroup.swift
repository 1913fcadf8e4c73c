internal import CCurl

/// Many transfers on one thread, which calls ``step(milliseconds:descriptor:)`` until all have ended. Connections are used again.
///
/// Everything is called on that thread. The system's resolver looks names up, on threads of libcurl.
public final class TransferGroup {
  private let multi: Multi
  private var exchanges: [UnsafeMutableRawPointer: (id: Int, exchange: Exchange)] = [:]

  /// Creates a group without transfers.
  public init() throws(TransferFailure) { multi = try Multi() }

  deinit {
    for (_, exchange) in exchanges.values { multi.remove(exchange) }
    multi.close()
  }

  /// The number of transfers that have not ended.
  public var count: Int { exchanges.count }

  /// Begins a transfer.
  ///
  /// - Parameters:
  ///   - id: A number that ``step(milliseconds:descriptor:)`` returns when the transfer has ended.
  ///   - take: Called with the head and each part of the body, never an empty part. False ends the transfer, which then counts as complete.
  public func add(
    _ request: TransferRequest, id: Int, _ take: @escaping (_ head: TransferHead, _ part: UnsafeRawBufferPointer) -> Bool
  ) throws(TransferFailure) {
    let exchange = try Exchange(request, take: take)
    try exchange.prepare(nil)
    try multi.add(exchange)
    exchanges[exchange.handle] = (id, exchange)
  }

  /// Makes progress until a transfer has ended, the time is over, or the descriptor is readable.
  ///
  /// - Returns: The transfers that have ended.
  public func step(
    milliseconds: Int, descriptor: Int32? = nil
  ) throws(TransferFailure) -> [(id: Int, result: Result<TransferHead, TransferFailure>)] {
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    while true {
      _ = try multi.perform()
      let ended = takeEnded()
      let left = deadline - .now
      if !ended.isEmpty || left <= .zero { return ended }
      if try multi.wait(milliseconds: 1 + Int(left / .milliseconds(1)), descriptor: descriptor) { return [] }
    }
  }

  private func takeEnded() -> [(id: Int, result: Result<TransferHead, TransferFailure>)] {
    var ended: [(Int, Result<TransferHead, TransferFailure>)] = []
    while let (handle, code) = multi.nextEnded() {
      guard let (id, exchange) = exchanges.removeValue(forKey: handle) else { continue }
      multi.remove(exchange)
      ended.append((id, Result { () throws(TransferFailure) in try exchange.result(code) }))
    }
    return ended
  }
}
