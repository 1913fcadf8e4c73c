import HostThreads

/// Does what blocks on a thread of its own, so that the threads of Swift's concurrency stay free.
public func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    do { try HostThread.start("test") { continuation.resume(with: Result { try body() }) } } catch { continuation.resume(throwing: error) }
  }
}
