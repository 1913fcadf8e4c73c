package import TaskHostSDK

/// The entry point for the library's exported function.
package enum CleanupLaunch {
  /// Registers the task with the host that loaded this library; see `TaskHostPlugin.launch`.
  package static func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
    TaskHostPlugin.launch(CleanupTask.self, api, launch)
  }
}
