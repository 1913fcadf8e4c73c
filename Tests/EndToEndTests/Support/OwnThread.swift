import Foundation

/// Runs blocking work on a thread of its own, so that tests which wait for a process or a socket do not hold the cooperative pool.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
