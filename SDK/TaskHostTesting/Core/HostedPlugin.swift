import PluginRuntime
import TaskModel

final class HostedPlugin: @unchecked Sendable {  // reason: everything that changes is touched with the lock of its test host held
  let plugin: TestPlugin
  var handlers: [HandlerRegistration] = []
  /// The stand-in for its process; nil: it is launched before its next run.
  var launcher: ThreadLauncher?

  init(_ plugin: TestPlugin) { self.plugin = plugin }

  var identifiers: [TaskIdentifier] { handlers.map(\.identifier) }
}
