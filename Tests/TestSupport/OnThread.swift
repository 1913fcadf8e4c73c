import Foundation

/// Does what blocks on a thread of its own, so that the few threads of Swift's concurrency, which all tests share, stay free.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Result { try body() }) }
  }
}
