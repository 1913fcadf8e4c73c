public import CTaskHost
import Foundation

/// An app with SwiftUI's name: the plugin is what its scenes are woken for.
///
/// ```swift
/// @main
/// struct FeedApp: App {
///   var body: some Scene {
///     WindowGroup { ContentView() }
///       .backgroundTask(.appRefresh("com.example.feed")) { await refresh() }
///   }
/// }
///
/// @c(taskhost_plugin_launch)
/// public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
///   BackgroundTasksPlugin.launch(api, launch, FeedApp.self)
/// }
/// ```
@MainActor @preconcurrency
public protocol App {
  /// The scenes of the app.
  associatedtype Body: Scene

  /// The scenes of the app. Called once after each ``init()``.
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }

  /// Creates the app. Called on the host's launch thread, and again if the host probes the plugin or restarts a worker.
  @MainActor @preconcurrency init()
}

extension App {
  /// What `@main` asks for. The host never calls it: a plugin is launched by its exported function.
  public static func main() {
    FileHandle.standardError.write(Data("this is a plugin of taskhost, not a program: put it into a plugin directory\n".utf8))
  }
}

extension BackgroundTasksPlugin {
  /// Launches a plugin that is declared as a SwiftUI app.
  ///
  /// - Parameter didFinishLaunching: Called after the scenes' tasks are registered. It can register others, and submit requests, which the
  ///   app's `init()` cannot.
  public static func launch<A: App & SendableMetatype>(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, _ app: A.Type, _ didFinishLaunching: () -> Void = {}
  ) -> taskhost_status {
    BGTaskScheduler.shared.core.launch(api, launch, callOnMainActor { app.init().body.allActions }, didFinishLaunching)
  }
}
