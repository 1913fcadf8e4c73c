import TaskHostSDK

/// The function that the host calls to launch the plugin.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  TaskHostPlugin.launch(NotesSync.self, api, launch)
}
