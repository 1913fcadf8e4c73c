/// Time limits for asynchronous work, on the monotonic clock.
enum Deadline {
  /// Does work that may continue for a while after the caller is cancelled; then it is cancelled too.
  ///
  /// Always waits for the work to end.
  ///
  /// - Parameter rest: Returns how long the work may continue. Called when the caller is cancelled.
  static func finish<Success: Sendable>(
    within rest: @escaping @Sendable () -> Duration, _ work: @escaping @Sendable () async -> Success
  ) async -> Success {
    let task = Task.detached { await work() }
    let (cancelled, signal) = AsyncStream.makeStream(of: Duration.self)
    let watch = Task.detached {
      for await rest in cancelled {
        try? await Task.sleep(for: rest)
        task.cancel()
      }
    }
    return await withTaskCancellationHandler {
      let result = await task.value
      signal.finish()
      watch.cancel()
      await watch.value
      return result
    } onCancel: {
      signal.yield(rest())
      signal.finish()
    }
  }
}
