import Cleanup
public import TaskHostSDK

// A target of its own: all test targets are linked into one executable, which can hold only one function of this name.

/// The plugin's entry point: registers its task with the host that loaded this library.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  CleanupLaunch.launch(api, launch)
}
