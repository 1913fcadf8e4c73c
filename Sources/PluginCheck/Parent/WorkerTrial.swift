public import TaskModel

/// A launch of the plugin in a worker process, as in a host.
public struct WorkerTrial: Sendable {
  /// The absolute path of the file to load.
  public let file: String
  /// The plugin's path, for messages.
  public let path: String
  /// The plugin's identifier, if its file declares one.
  public let identifier: TaskIdentifier?
  /// The function that is the handler of a library that a manifest adopts; nil if the file is a plugin.
  public let adoption: LibraryAdoption?
  /// The maximum number of handlers that the plugin may register.
  public let handlerLimit: Int
  /// The plugin's settings: a JSON object.
  public let settings: String
  /// The absolute path of a folder that serves as the state directory.
  public let directory: String

  /// Launches the plugin and returns its registrations, or why a host would refuse it. Blocks. Throws if the worker could not be started.
  public typealias Launch = @Sendable (WorkerTrial) throws(CheckFailure) -> Result<[HandlerRegistration], LaunchFailure>
}
