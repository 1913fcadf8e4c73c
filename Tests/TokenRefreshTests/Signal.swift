/// Something that happens once, and can be waited for, before or after.
struct Signal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() {
    (stream, continuation) = AsyncStream.makeStream()
  }

  func send() {
    continuation.finish()
  }

  /// Waits for ``send()``; a cancelled task goes on at once.
  func wait() async {
    for await _ in stream {}
  }
}
