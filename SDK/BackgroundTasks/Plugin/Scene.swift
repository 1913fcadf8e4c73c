/// A part of an app, with SwiftUI's name. Nothing is shown here: a scene says what wakes the plugin.
@MainActor @preconcurrency
public protocol Scene {
  /// The scene that this one consists of; `Never` for the scenes of this module.
  associatedtype Body: Scene

  /// What the scene consists of.
  @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: Scene {
  /// There is none.
  public var body: Never { self }
}

/// What wakes a plugin: a task and its action.
typealias SceneAction = (identifier: String, isSession: Bool, action: @Sendable () async -> Void)

/// A scene of this module, which has no body.
@MainActor
protocol PrimitiveScene: Scene where Body == Never {
  /// What wakes the plugin.
  nonisolated var actions: [SceneAction] { get }
}

extension PrimitiveScene {
  /// There is none: ``Scene/allActions`` does not ask for it.
  public var body: Never { preconditionFailure("\(Self.self) has no body") }
}

extension Scene {
  /// What wakes the plugin, with the scenes that this one consists of.
  var allActions: [SceneAction] { (self as? any PrimitiveScene)?.actions ?? body.allActions }

  /// Calls `action` in each run of the task.
  ///
  /// When the action returns, the run is completed as a success. When the run expires, the action's Swift task is cancelled, and the
  /// request is retried if the action returns after that. The action begins on a serial queue of the identifier, which it may block.
  public func backgroundTask(_ task: BackgroundTask<Void, Void>, action: @escaping @Sendable () async -> Void) -> some Scene {
    SceneGroup(actions: allActions + [(task.identifier, task.isSession, action)])
  }
}

/// Several scenes, or one with its tasks.
struct SceneGroup: PrimitiveScene {
  let actions: [SceneAction]
}

extension PluginScene: PrimitiveScene {}

/// A window, which a plugin never opens: the content is not created.
public struct WindowGroup<Content>: PrimitiveScene {
  var actions: [SceneAction] { [] }

  /// A window.
  ///
  /// - Parameter content: Never called. A view of the app that does not exist on Linux needs a stand-in, such as an empty struct.
  public init(content: () -> Content) {}
}

/// Puts the scenes of an app together.
@resultBuilder @MainActor
public enum SceneBuilder {
  /// One scene.
  public static func buildPartialBlock<First: Scene>(first: First) -> First { first }

  /// One more scene.
  public static func buildPartialBlock(accumulated: some Scene, next: some Scene) -> some Scene {
    SceneGroup(actions: accumulated.allActions + next.allActions)
  }
}
