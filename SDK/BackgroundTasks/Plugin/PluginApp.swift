/// A plugin that is declared like a SwiftUI app.
///
/// ```swift
/// struct Feed: PluginApp {
///   var body: PluginScene {
///     PluginScene().backgroundTask(.appRefresh("org.example.feed")) { await refresh() }
///   }
/// }
///
/// @c(taskhost_plugin_launch)
/// public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
///   BackgroundTasksPlugin.launch(api, launch, Feed.self)
/// }
/// ```
public protocol PluginApp {
  /// Creates the plugin. Called on the host's launch thread, and again if the host probes the plugin or restarts a worker.
  init()

  /// What wakes the plugin. Called once after each ``init()``.
  var body: PluginScene { get }
}
