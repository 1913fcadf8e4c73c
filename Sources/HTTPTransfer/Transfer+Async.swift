import Glibc

extension Transfer {
  /// Does what blocks on a thread of its own, so that no thread of Swift's waits. A cancelled task cancels the transfer.
  ///
  /// - Parameter work: Calls ``run(_:)`` or ``answer(mostBytes:)``.
  public func onThread<Success: Sendable>(
    _ work: @escaping @Sendable (Transfer) throws(TransferFailure) -> Success
  ) async throws(TransferFailure) -> Success {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Result<Success, TransferFailure>, Never>) in
        let body = TransferThread { continuation.resume(returning: Result { () throws(TransferFailure) in try work(self) }) }
        let code = body.start()
        if code != 0 { continuation.resume(returning: .failure(.broken("no thread: \(String(cString: strerror(code)))"))) }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }
}
