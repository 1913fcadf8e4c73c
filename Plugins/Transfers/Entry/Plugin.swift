public import TaskHostSDK
import Transfers

// A separate target, because all test targets share one executable, which can contain this function only once.

/// The plugin's entry point: registers its task with the host that loaded this library.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  TransfersLaunch.launch(api, launch)
}
