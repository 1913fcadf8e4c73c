/// Bounds for asynchronous work, on the monotonic clock.
enum Deadline {
  /// Does work that continues for a while after the caller is cancelled, and is cancelled then.
  ///
  /// Always waits for the work to end.
  ///
  /// - Parameter rest: How long the work may continue; called when the caller is cancelled.
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
