package import TaskHostSDK

/// The entry point for the library's exported function.
package enum TransfersLaunch {
  /// Registers ``TransferTask`` with the host that loaded this library. Called on the host's launch thread.
  package static func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
    TaskHostPlugin.launch(TransferTask.self, api, launch)
  }
}
