import BackgroundTasks

/// A plugin opens no window: the app's view stays out of it.
struct ContentView {}

/// What the host calls to launch the plugin. What the app does at its launch on iOS goes into the closure.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  BackgroundTasksPlugin.launch(api, launch, @TYPE@App.self) {
    registerCleanup()
    scheduleRefresh()
  }
}
