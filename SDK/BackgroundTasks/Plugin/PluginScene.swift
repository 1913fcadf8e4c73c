/// What wakes a plugin, like the scene of a SwiftUI app.
public struct PluginScene: Sendable {
  private(set) var actions: [SceneAction] = []

  /// Creates a scene that nothing wakes yet.
  public init() {}

  /// Calls `action` in each run of the task.
  ///
  /// When the action returns, the run is completed as a success. When the run expires, the action's Swift task is cancelled, and the
  /// request is retried if the action returns after that. The action begins on a serial queue of the identifier, which it may block.
  public func backgroundTask(_ task: BackgroundTask<Void, Void>, action: @escaping @Sendable () async -> Void) -> PluginScene {
    var scene = self
    scene.actions.append((task.identifier, task.isSession, action))
    return scene
  }
}

/// What wakes a plugin's scene, as in SwiftUI: an app refresh, or the events of a background session.
public struct BackgroundTask<Request, Response>: Sendable {
  let identifier: String
  var isSession = false
}

extension BackgroundTask where Request == Void, Response == Void {
  /// A short run that brings the app's data up to date: 30 s.
  public static func appRefresh(_ identifier: String) -> BackgroundTask<Void, Void> { BackgroundTask(identifier: identifier) }

  /// The events of a ``BackgroundURLSession``: all tasks that were handed to the host together have ended. The action is called before the
  /// session's delegate is told, and may create the session.
  public static func urlSession(_ identifier: String) -> BackgroundTask<Void, Void> {
    BackgroundTask(identifier: identifier, isSession: true)
  }
}
