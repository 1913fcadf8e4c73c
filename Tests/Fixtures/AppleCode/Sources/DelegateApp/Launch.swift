import BackgroundTasks

@MainActor private let delegate = AppDelegate()

/// What the host calls to launch the plugin: all that the author adds.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  BackgroundTasksPlugin.launch(api, launch, kinds: ["test.apple.delegate": .refresh], onMainActor: { _ = delegate.application() })
}
