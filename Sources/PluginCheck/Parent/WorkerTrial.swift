public import TaskModel

/// A launch of the plugin in a worker process, as a host does it.
public struct WorkerTrial: Sendable {
  /// What is loaded, an absolute path.
  public let file: String
  /// The plugin's own path, for sentences.
  public let path: String
  /// Who it is, where its file says so.
  public let identifier: TaskIdentifier?
  /// The function that is the handler of a library that a manifest adopts; nil if the file is a plugin.
  public let adoption: LibraryAdoption?
  /// How many handlers it may register.
  public let handlerLimit: Int
  /// Its settings: a JSON object.
  public let settings: String
  /// Takes the place of a host's state directory, an absolute path.
  public let directory: String

  /// Does it: what the plugin registered, or why a host would refuse it. Throws when no worker could be started. Blocks.
  public typealias Launch = @Sendable (WorkerTrial) throws(CheckFailure) -> Result<[HandlerRegistration], LaunchFailure>
}
