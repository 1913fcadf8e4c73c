package import TaskHostSDK

/// What the exported function of the plugin calls.
package enum TokenRefreshLaunch {
  /// Registers ``TokenRefreshTask`` with a host. Called on the host's launch thread.
  package static func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
    TaskHostPlugin.launch(TokenRefreshTask.self, api, launch)
  }
}
