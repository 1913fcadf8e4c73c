public import TaskModel

/// A question of a worker that blocks a thread of the plugin until its host answers.
public enum WorkerCall: Sendable, Hashable {
  // MARK: While launching

  /// May the plugin have this identifier? Answered `done` or `failure`.
  case admit(TaskIdentifier)
  /// Its settings, a JSON object. Answered `text` or `failure`.
  case settings(TaskIdentifier)
  /// Its own folder. Answered `text`, an absolute path, or `failure`.
  case dataDirectory(TaskIdentifier)
  /// May a plugin with that identifier submit the request? Answered `done` or `failure`.
  case admitRequest(TaskRequest, from: TaskIdentifier)
  /// The requests of these identifiers, which it has registered, that are pending; at most ``LinkFormat/registrations`` identifiers. A page
  /// that begins after the request, or the first. Answered `pending` or `failure`.
  case launchPending([TaskIdentifier], after: RequestID?)

  // MARK: While a run is live

  /// A value of the identifier's state. Answered `bytes`, nil for no such key, or `failure`.
  case state(RunID, key: String)
  /// Writes a value of the identifier's state; nil deletes. Answered `done` once it is durable, or `failure`.
  case setState(RunID, key: String, value: [UInt8]?)
  /// Where an earlier run of the request left off. Answered `bytes`, nil for nowhere, or `failure`.
  case checkpoint(RunID)
  /// Records where the run is; nil clears it. Answered `done` once it is durable, or `failure`.
  case setCheckpoint(RunID, [UInt8]?)
  /// Submits a request for the run's plugin. Answered `submission` once it is durable, or `failure`.
  case submit(RunID, TaskRequest)
  /// Cancels a request for the run's plugin. Answered `done` or `failure`.
  case cancel(RunID, RequestID)
  /// The pending requests of the run's plugin: a page that begins after the request, or the first. Answered `pending` or `failure`.
  case pending(RunID, after: RequestID?)
  /// Cancels the pending requests of an identifier of the run's plugin; nil: of all. Answered `count` once it is durable, or `failure`.
  case cancelPending(RunID, of: TaskIdentifier?)
  /// Has somebody these files open, which are below an absolute path? At most ``TaskModel/Limits/openFiles``, with
  /// ``TaskModel/Limits/openFilePathBytes`` of paths. Answered `bytes`, a ``TaskModel/FileUse`` each, or `failure`.
  case openFiles(RunID, in: String, [FileQuestion])
}
