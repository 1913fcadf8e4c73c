package import CTaskHost
public import TaskModel

/// One plugin to be loaded and launched.
public struct LaunchOrder: Sendable {
  /// A plugin's launch function.
  package typealias Entry = @Sendable (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status

  /// What is launched.
  enum Source {
    case file(String)
    case function(Entry)
  }

  let source: Source
  let identifier: TaskIdentifier?
  let adoption: LibraryAdoption?
  let handlerLimit: Int
  let policy: any LaunchPolicy
  /// The table that the plugin gets; nil for that of this process. It lives as long as the process.
  nonisolated(unsafe) package var table: UnsafePointer<taskhost_api>?  // reason: read-only memory

  /// - Parameters:
  ///   - path: The file. It is never unloaded.
  ///   - identifier: The plugin's identifier, if known.
  ///   - adoption: The handler's function in an adopted library; nil for a plugin with a launch function.
  ///   - handlerLimit: What the file declares as `taskhost_plugin_handler_limit`, 1 if it does not.
  ///   - policy: The host's decisions during launch; called on the thread of the launch.
  public init(
    path: String, identifier: TaskIdentifier?, adoption: LibraryAdoption? = nil, handlerLimit: Int, policy: any LaunchPolicy
  ) {
    source = .file(path)
    self.identifier = identifier
    self.adoption = adoption
    self.handlerLimit = handlerLimit
    self.policy = policy
  }

  /// A plugin without a file, for a host for tests.
  package init(function: @escaping Entry, identifier: TaskIdentifier?, handlerLimit: Int, policy: any LaunchPolicy) {
    source = .function(function)
    self.identifier = identifier
    adoption = nil
    self.handlerLimit = handlerLimit
    self.policy = policy
  }
}
