import TaskHostSDK

/// Greets with its payload, counts to ten in steps of a tenth of a second, and outputs the count.
struct Hello: BackgroundTask {
  /// The request's payload: `{"name": "world"}`, or nothing.
  struct Payload: Decodable { var name: String? }

  static let identifier = "org.taskhost.samples.hello-swift"
  static let displayName: String? = "Hello from Swift"
  static let version: String? = "1.0.0"

  init(_ launch: LaunchContext<NoSettings>) {}

  func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
    task.logger.info("hello, \(task.payload.name ?? "world")")
    do {
      for step: UInt64 in 1...10 {
        // Throws once the run has expired: expiration cancels this Swift task.
        try await task.sleep(for: .milliseconds(100))
        task.progress(step, of: 10)
      }
    } catch is CancellationError {
      // Only to state the reason: an error that leaves this function also means a retry.
      throw TaskFailure.temporary("asked to stop before the end (\(task.stopReason))")
    }
    try task.setOutput(["counted": 10])
    return .success
  }
}

/// The function that the host calls to launch the plugin.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  TaskHostPlugin.launch(Hello.self, api, launch)
}
