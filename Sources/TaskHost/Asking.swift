import HostThreads
import TaskModel

/// What clients and plugins are told if reading fails.
func read<Value>(_ body: () throws(StoreError) -> Value) throws(RequestRefusal) -> Value {
  do { return try body() } catch { throw RequestRefusal(error) }
}

/// Waits for an answer without blocking the thread.
func ask<Value: Sendable>(
  _ body: (@escaping @Sendable (Result<Value, RequestRefusal>) -> Void) -> Void
) async throws(RequestRefusal) -> Value {
  let result = await withCheckedContinuation { continuation in body { continuation.resume(returning: $0) } }
  return try result.get()
}

/// Blocks until there is an answer.
func awaitAnswer<Value: Sendable>(
  _ body: (@escaping @Sendable (Result<Value, RequestRefusal>) -> Void) -> Void
) throws(RequestRefusal) -> Value {
  let answer = Awaited<Result<Value, RequestRefusal>>()
  body { answer.set($0) }
  return try answer.wait().get()
}
