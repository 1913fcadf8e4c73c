import HostThreads

/// Runs what blocks on a thread of its own, not on one of the few that all tests share.
func onThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    do { try HostThread.start("test") { continuation.resume(with: Result(catching: body)) } } catch { continuation.resume(throwing: error) }
  }
}
