import TaskHostSDK

struct Hello: BackgroundTask {
  struct Payload: Decodable { var name: String? }

  static let identifier = "org.taskhost.samples.hello-swift"

  init(_ launch: LaunchContext<NoSettings>) {}

  func run(_ task: TaskContext<Payload>) async throws -> TaskResult {
    task.logger.info("hello, \(task.payload.name ?? "world")")
    return .success
  }
}

/// What the host calls to launch the plugin.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  TaskHostPlugin.launch(Hello.self, api, launch)
}
