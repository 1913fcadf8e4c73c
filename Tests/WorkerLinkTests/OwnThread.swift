import Foundation

/// Something that may block, on a thread of its own that runs at once, also while every thread of the cooperative pool is taken.
struct OwnThread<Value: Sendable> {
  private let results: AsyncStream<Value>

  /// Starts `body`.
  init(_ body: @escaping @Sendable () -> Value) {
    let (results, continuation) = AsyncStream.makeStream(of: Value.self)
    self.results = results
    Thread.detachNewThread {
      continuation.yield(body())
      continuation.finish()
    }
  }

  /// What `body` returned; nil only when the test is cancelled.
  var value: Value? {
    get async { await results.first { _ in true } }
  }
}
