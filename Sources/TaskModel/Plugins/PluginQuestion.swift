/// What a plugin asks about requests, runs and the machine, besides its pending requests.
public enum PluginQuestion: Sendable, Hashable {
  /// The live requests of an identifier, newest first: the first page, or the one after a request.
  case requests(of: TaskIdentifier, after: RequestID?)
  /// One request, live or ended.
  case request(RequestID)
  /// Why a request is not running.
  case explanation(of: RequestID)
  /// The conditions of the machine.
  case conditions
  /// The runs of an identifier that have ended, newest first: the first page, or the one after a run.
  case runs(of: TaskIdentifier, after: RunID?)
  /// The last run of an identifier that succeeded, with or without something to do.
  case lastSuccess(of: TaskIdentifier)
  /// The plugin's own live transfers, newest first: the first page, or the one after a request.
  case transfers(after: RequestID?)
  /// One of the plugin's own transfers, live or ended.
  case transfer(RequestID)
}
