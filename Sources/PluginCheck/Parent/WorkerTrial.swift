public import TaskModel

/// A launch of the plugin in a worker process, as a host does it.
public struct WorkerTrial: Sendable {
  /// The absolute path of the file to load.
  public let file: String
  /// The plugin's path, for messages.
  public let path: String
  /// Its identifier, if its file declares one.
  public let identifier: TaskIdentifier?
  /// The function that is the handler of a library that a manifest adopts; nil if the file is a plugin.
  public let adoption: LibraryAdoption?
  /// How many handlers it may register.
  public let handlerLimit: Int
  /// Its settings: a JSON object.
  public let settings: String
  /// The absolute path of a folder that serves as the state directory.
  public let directory: String

  /// Launches the plugin and returns its registrations, or why a host would refuse it. Throws if no worker could be started. Blocks.
  public typealias Launch = @Sendable (WorkerTrial) throws(CheckFailure) -> Result<[HandlerRegistration], LaunchFailure>
}
