/// What a plugin is woken for, in place of the scene of a SwiftUI app.
public struct PluginScene: Sendable {
  private(set) var actions: [(identifier: String, action: @Sendable () async -> Void)] = []

  /// A scene that is woken for nothing yet.
  public init() {}

  /// Calls `action` with each run of the task.
  ///
  /// Its return completes the run as a success. When the run expires the Swift task that executes it is cancelled; an action that returns
  /// then has been cut short, and the request is tried again. It begins on a serial queue of the identifier's own, where it may block.
  public func backgroundTask(_ task: BackgroundTask<Void, Void>, action: @escaping @Sendable () async -> Void) -> PluginScene {
    var scene = self
    scene.actions.append((task.identifier, action))
    return scene
  }
}

/// What wakes a plugin's scene, as in SwiftUI: an app refresh. SwiftUI's background URL sessions do not exist here.
public struct BackgroundTask<Request, Response>: Sendable {
  let identifier: String
}

extension BackgroundTask where Request == Void, Response == Void {
  /// A short run that brings the app's data up to date: 30 s.
  public static func appRefresh(_ identifier: String) -> BackgroundTask<Void, Void> { BackgroundTask(identifier: identifier) }
}
