/// A plugin that is declared as an app is in SwiftUI.
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
  /// Makes the plugin. Called on the host's launch thread, and more than once where the host probes it or restarts a worker.
  init()

  /// What the plugin is woken for. Called once after each ``init()``.
  var body: PluginScene { get }
}
