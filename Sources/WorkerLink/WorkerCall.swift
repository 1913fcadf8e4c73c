public import TaskModel

/// A call from a worker, which blocks a thread of the plugin until the host answers.
public enum WorkerCall: Sendable, Hashable {
  // MARK: While launching

  /// May the plugin use this identifier? Answered with `done` or `failure`.
  case admit(TaskIdentifier)
  /// The plugin's settings, a JSON object. Answered with `text` or `failure`.
  case settings(TaskIdentifier)
  /// The plugin's own folder. Answered with `text`, an absolute path, or `failure`.
  case dataDirectory(TaskIdentifier)
  /// May a plugin with that identifier submit the request? Answered with `done` or `failure`.
  case admitRequest(TaskRequest, from: TaskIdentifier)
  /// A page of the pending requests of registered identifiers, at most ``LinkFormat/registrations``: the first page, or the one after a
  /// request. Answered with `pending` or `failure`.
  case launchPending([TaskIdentifier], after: RequestID?)
  /// How many tokens of a named resource the host has. Answered with `count` or `failure`.
  case resourceTokens(String)

  // MARK: While a run is live

  /// Reads a value of the identifier's state. Answered with `bytes`, nil if the key does not exist, or `failure`.
  case state(RunID, key: String)
  /// Writes a value of the identifier's state; nil deletes it. Answered with `done` once it is durable, or `failure`.
  case setState(RunID, key: String, value: [UInt8]?)
  /// Reads the checkpoint of an earlier run of the request. Answered with `bytes`, nil if there is none, or `failure`.
  case checkpoint(RunID)
  /// Writes the run's checkpoint; nil deletes it. Answered with `done` once it is durable, or `failure`.
  case setCheckpoint(RunID, [UInt8]?)
  /// Submits a request for the run's plugin. Answered with `submission` once it is durable, or `failure`.
  case submit(RunID, TaskRequest)
  /// Cancels a request for the run's plugin. Answered with `done` or `failure`.
  case cancel(RunID, RequestID)
  /// A page of the pending requests of the run's plugin: the first, or the one after a request. Answered with `pending` or `failure`.
  case pending(RunID, after: RequestID?)
  /// Cancels the pending requests of one or all (nil) identifiers of the run's plugin. Answered with `count` once it is durable, or `failure`.
  case cancelPending(RunID, of: TaskIdentifier?)
  /// Raises an event for the run's plugin: a name of 1 to ``TaskModel/Limits/keyBytes`` bytes, and a payload for the runs that it wakes, nil
  /// for their own. Answered with `count`, the requests that wait for it, once it is durable, or `failure`.
  case notify(RunID, event: String, payload: [UInt8]?)
  /// Answers a question for the run's plugin. Answered with `page`, or `failure`.
  case ask(RunID, PluginQuestion)
  /// Postpones a waiting request by a delay. Answered with `submission` once it is durable, or `failure`.
  case snooze(RunID, RequestID, for: Duration)
  /// Replaces the fields of a live request. Answered with `submission` once it is durable, or `failure`.
  case update(RunID, RequestID, with: TaskRequest)
  /// Are these files below an absolute path open? At most ``TaskModel/Limits/openFiles``, with ``TaskModel/Limits/openFilePathBytes`` of
  /// paths. Answered with `bytes`, one ``TaskModel/FileUse`` for each, or `failure`.
  case openFiles(RunID, in: String, [FileQuestion])
  /// Takes an execution assertion for the run. Answered with `assertion` or `failure`.
  case beginAssertion(RunID, name: String, reason: String?, length: Duration)
  /// Gives an execution assertion of the run back. Answered with `done` or `failure`.
  case endAssertion(RunID, AssertionID)
  /// The folder of the run's plugin for transfers. Answered with `text`, an absolute path, or `failure`.
  case transferFolder(RunID)
  /// Submits a transfer for the run's plugin. Answered with `submission` once it is durable, or `failure`.
  case submitTransfer(RunID, TaskRequest)
  /// Cancels, pauses or resumes a transfer of the run's plugin. Answered with `done` once it is durable, or `failure`.
  case changeTransfer(RunID, RequestID, TransferChange)
}
