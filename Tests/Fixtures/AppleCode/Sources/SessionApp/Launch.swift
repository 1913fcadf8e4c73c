import BackgroundTasks

/// Views stay out of a plugin.
struct ContentView {}

/// What the host calls to launch the plugin: all that the author adds.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  BackgroundTasksPlugin.launch(api, launch, SessionApp.self)
}
