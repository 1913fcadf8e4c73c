import PluginRuntime
import WorkerProcesses

enum Placement: Sendable {
  case thread(LaunchedPlugin)
  case process(PluginWorker)

  var isolation: PluginConfiguration.Isolation {
    switch self {
    case .thread: .thread
    case .process: .process
    }
  }
}
