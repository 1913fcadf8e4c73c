import PluginRuntime
import WorkerProcesses

enum Placement: Sendable {
  /// On threads of the host.
  case thread(LaunchedPlugin)
  /// In a worker process.
  case process(PluginWorker)

  /// As in the configuration.
  var isolation: PluginConfiguration.Isolation {
    switch self {
    case .thread: .thread
    case .process: .process
    }
  }
}
