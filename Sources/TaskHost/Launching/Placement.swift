import PluginRuntime
import WorkerProcesses

enum Placement: Sendable {
  case thread(LaunchedPlugin)
  case process(PluginWorker)
  /// It would run in a thread. Code is loaded into the host only when it is to stay.
  case untried

  var isolation: PluginConfiguration.Isolation {
    switch self {
    case .thread, .untried: .thread
    case .process: .process
    }
  }
}
