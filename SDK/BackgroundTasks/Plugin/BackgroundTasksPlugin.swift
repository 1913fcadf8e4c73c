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
  /// The kind of an identifier's runs. It decides the host's budget, and the task's class if a request does not state its kind.
  public enum Kind: String, Codable, Sendable {
    /// ``BGAppRefreshTask``: 30 s, grace 5 s.
    case refresh
    /// ``BGProcessingTask``: 10 min, grace 30 s.
    case processing
    /// ``BGHealthResearchTask``: like processing.
    case healthResearch = "health_research"
    /// ``BGContinuedProcessingTask``: no time limit while its progress rises, grace 30 s.
    case continued
  }

  /// Launches the plugin: calls the app's launch function, which registers handlers and may submit requests.
  ///
  /// The host may call this more than once in a process. Called on the host's launch thread.
  ///
  /// - Parameters:
  ///   - kinds: The kinds of runs, by identifier or wildcard (`NAME.*`). Other identifiers are registered as processing. A wildcard named
  /// here needs no handler yet: its identifiers may be registered later, as continued tasks are on iOS.
  ///   - didFinishLaunching: The app's launch function.
  /// - Returns: `TASKHOST_OK`; `TASKHOST_EINVAL` without a table, `TASKHOST_EUNSUPPORTED` for a host that is too old. The host reports a
  ///   launch that registers nothing.
  public static func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, kinds: [String: Kind] = [:], _ didFinishLaunching: () -> Void
  ) -> taskhost_status {
    BGTaskScheduler.shared.core.launch(api, launch, hints: kinds, didFinishLaunching)
  }

  /// Launches the plugin like ``launch(_:_:kinds:_:)``, with a launch function of the main actor.
  ///
  /// The function is called on the host's launch thread, before any other code of the plugin runs.
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
    BGTaskScheduler.shared.core.launch(api, launch, app.init().body.actions)
  }

  /// Calls `body` on the calling thread, while the plugin launches.
  ///
  /// Off the main queue, this is the host's launch thread. Waiting for the main queue could last forever: a worker serves it only after the
  /// launch, thread isolation perhaps never. No other code of the plugin runs before the launch returns, so `body` has the main actor to
  /// itself.
  static func callOnMainActor<Result: Sendable>(_ body: @MainActor () -> Result) -> Result {
    if MainQueue.isCurrent { return MainActor.assumeIsolated(body) }
    return withoutActuallyEscaping(body) { body in
      unsafeBitCast(body, to: (() -> Result).self)()
    }
  }

  /// The absolute path of the plugin's own writable folder, the only one in the sandbox. `nil` before the first registration.
  public static var dataDirectory: String? { BGTaskScheduler.shared.core.state.withLock { $0.dataDirectory } }
}

extension SchedulerCore {
  /// Launches with a scene's actions as the handlers.
  func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, _ actions: [SceneAction], _ didFinishLaunching: () -> Void = {}
  ) -> taskhost_status {
    for action in actions where action.isSession { transfers.set(action.action, for: action.identifier) }
    let actions = actions.filter { !$0.isSession }
    let hints = Dictionary(actions.map { ($0.identifier, BackgroundTasksPlugin.Kind.refresh) }, uniquingKeysWith: { first, _ in first })
    return self.launch(api, launch, hints: hints) {
      for (identifier, _, action) in actions { _ = register(identifier, LaunchHandler(identifier, action: action)) }
      didFinishLaunching()
    }
  }
}
