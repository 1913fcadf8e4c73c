public import TaskHostSDK

/// A background task that does its work in steps.
///
/// After each step it records in a checkpoint how far it is: a run that is stopped or killed goes on from there the next time.
struct @TYPE@Task: BackgroundTask {
  static let identifier = "@IDENTIFIER@"
  static let kind = TaskKind.@KIND@
  static let displayName: String? = "@NAME@"
  static let version: String? = "0.1.0"

  private static let steps = 10

  init(_ launch: LaunchContext<NoSettings>) {}

  /// One run. An error ends it as a retry, with its description as the message.
  func run(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
    try await withTaskCancellationHandler {
      try await work(task)
    } onCancel: {
      // The expiration handler: the host cancels the Swift task of a run that must end. `sleep` and other calls then throw.
      task.logger.notice("asked to stop")
    }
  }

  private func work(_ task: TaskContext<NoPayload>) async throws -> TaskResult {
    let first = firstStep(task)
    var done = first
    do {
      while done < Self.steps {
        try await doStep(done, task)
        done += 1
        try task.checkpoint.save([UInt8(done)])
        task.progress(UInt64(done), of: UInt64(Self.steps))
      }
      return .success
    } catch is CancellationError {
      task.setMessage("asked to stop before the end")
      // Snooze costs no attempt, but only a run that got on may ask for it: else it could go on for ever.
      return done > first ? .snooze() : .retry()
    }
  }

  /// One step. It is done again if the process dies before the checkpoint is written: it must be idempotent.
  private func doStep(_ step: Int, _ task: TaskContext<NoPayload>) async throws {
    try await task.sleep(for: .milliseconds(10))
  }

  /// Where an earlier run of this request left off; 0 if it is the first. The bytes may be an earlier version's.
  private func firstStep(_ task: TaskContext<NoPayload>) -> Int {
    guard let bytes = try? task.checkpoint.load(), bytes.count == 1, bytes[0] <= Self.steps else { return 0 }
    return Int(bytes[0])
  }
}

/// What the host calls to launch the plugin.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  TaskHostPlugin.launch(@TYPE@Task.self, api, launch)
}
