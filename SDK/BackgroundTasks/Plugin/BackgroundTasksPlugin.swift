public import CTaskHost
import Synchronization

/// The entry point for a plugin's exported function.
///
/// ```swift
/// @c(taskhost_plugin_launch)
/// public func launch(_ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch) -> taskhost_status {
///   BackgroundTasksPlugin.launch(api, launch) { Feed.shared.registerTasks() }
/// }
/// ```
///
/// The function must be `public`, otherwise the linker drops it. If imports are internal by default, write `public import BackgroundTasks`.
public enum BackgroundTasksPlugin {
  /// What the runs of an identifier are. Decides the host's budget, and the class of the task for a request that does not say.
  public enum Kind: String, Codable, Sendable {
    /// ``BGAppRefreshTask``: 30 s, grace 5 s.
    case refresh
    /// ``BGProcessingTask``: 10 min, grace 30 s.
    case processing
    /// ``BGHealthResearchTask``: as processing.
    case healthResearch = "health_research"
    /// ``BGContinuedProcessingTask``: as long as its progress rises, grace 30 s.
    case continued
  }

  /// Launches the plugin: calls the app's launch function, in which it registers its handlers and may submit.
  ///
  /// The host may call this more than once in a process. Called on the host's launch thread.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of runs, by identifier or wildcard (`NAME.*`). An identifier that is not named is registered as processing. A wildcard
  ///     that is named needs no handler yet: each of its identifiers may be registered later, as continued tasks are on iOS.
  ///   - didFinishLaunching: The app's launch function.
  /// - Returns: `TASKHOST_OK`; `TASKHOST_EINVAL` without a table, `TASKHOST_EUNSUPPORTED` for a host that is too old. The host reports if nothing
  ///   was registered.
  public static func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, kinds: [String: Kind] = [:], _ didFinishLaunching: () -> Void
  ) -> taskhost_status {
    BGTaskScheduler.shared.core.launch(api, launch, hints: kinds, didFinishLaunching)
  }

  /// As ``launch(_:_:kinds:_:)``, for a function of the main actor.
  ///
  /// It is called on the host's launch thread, before any other code of the plugin runs.
  public static func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, kinds: [String: Kind] = [:],
    onMainActor didFinishLaunching: @MainActor () -> Void
  ) -> taskhost_status {
    BGTaskScheduler.shared.core.launch(api, launch, hints: kinds) { callOnMainActor(didFinishLaunching) }
  }

  /// Launches a plugin that is declared like a SwiftUI app.
  public static func launch<App: PluginApp>(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, _ app: App.Type
  ) -> taskhost_status {
    BGTaskScheduler.shared.core.launch(api, launch, app.init().body)
  }

  /// Calls `body` on the calling thread, while the plugin launches.
  ///
  /// Off the main queue this is the host's launch thread. A worker serves the main queue only after the launch, thread isolation perhaps
  /// never, so waiting for that queue could last forever. None of the plugin's other code runs before its launch has returned, so `body` has
  /// the main actor for itself.
  static func callOnMainActor(_ body: @MainActor () -> Void) {
    if MainQueue.isCurrent { return MainActor.assumeIsolated(body) }
    withoutActuallyEscaping(body) { body in
      unsafeBitCast(body, to: (() -> Void).self)()
    }
  }

  /// The plugin's own writable folder, an absolute path: in the sandbox the only place to write to. `nil` before the first registration.
  public static var dataDirectory: String? { BGTaskScheduler.shared.core.state.withLock { $0.dataDirectory } }
}

extension SchedulerCore {
  /// Launches with the actions of a scene as the handlers.
  func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, _ scene: @autoclosure () -> PluginScene
  ) -> taskhost_status {
    let actions = scene().actions
    let hints = Dictionary(actions.map { ($0.identifier, BackgroundTasksPlugin.Kind.refresh) }, uniquingKeysWith: { first, _ in first })
    return self.launch(api, launch, hints: hints) {
      for (identifier, action) in actions { _ = register(identifier, LaunchHandler(identifier, action: action)) }
    }
  }
}
