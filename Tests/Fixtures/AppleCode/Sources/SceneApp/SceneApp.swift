import BackgroundTasks

/// SwiftUI's shape: returning is completion, running out of time is cancellation.
struct SceneApp: PluginApp {
  var body: PluginScene {
    PluginScene()
      .backgroundTask(.appRefresh("test.apple.scene")) {
        try? await Task.sleep(for: .milliseconds(5))
        let request = BGAppRefreshTaskRequest(identifier: "test.apple.scene")
        request.earliestBeginDate = Date.now.addingTimeInterval(3600)
        try? BGTaskScheduler.shared.submit(request)
      }
      .backgroundTask(.appRefresh("test.apple.scene.slow")) {
        // Ends by cancellation alone.
        try? await Task.sleep(for: .seconds(3600))
      }
  }
}

/// What the host calls to launch the plugin: all that the author adds.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  BackgroundTasksPlugin.launch(api, launch, SceneApp.self)
}
