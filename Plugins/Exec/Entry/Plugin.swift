import Exec
public import TaskHostSDK

// A separate target, because all test targets share one executable, which can contain this function only once.

/// The plugin's entry point: registers the command of the settings with the host that loaded this library.
@c(taskhost_plugin_launch)
public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
  ExecLaunch.launch(api, launch)
}

/// Ends the processes that wait for runs.
@c(taskhost_plugin_shutdown)
public func shutdown() { ExecLaunch.shutDown() }
