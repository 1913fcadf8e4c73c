public import TaskModel

/// One plugin to be loaded and launched.
public struct LaunchOrder: Sendable {
  let path: String
  let identifier: TaskIdentifier?
  let adoption: LibraryAdoption?
  let handlerLimit: Int
  let policy: any LaunchPolicy

  /// - Parameters:
  ///   - path: The file. It is never unloaded.
  ///   - identifier: The plugin's identifier, if known.
  ///   - adoption: The handler's function in an adopted library; nil for a plugin with a launch function.
  ///   - handlerLimit: What the file declares as `taskhost_plugin_handler_limit`, 1 if it does not.
  ///   - policy: The host's decisions during launch; called on the thread of the launch.
  public init(
    path: String, identifier: TaskIdentifier?, adoption: LibraryAdoption? = nil, handlerLimit: Int, policy: any LaunchPolicy
  ) {
    self.path = path
    self.identifier = identifier
    self.adoption = adoption
    self.handlerLimit = handlerLimit
    self.policy = policy
  }
}
