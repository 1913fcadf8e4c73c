import PluginRuntime
import TaskModel

/// A plugin in a test host.
final class HostedPlugin: @unchecked Sendable {  // reason: everything that changes is touched with the lock of its test host held
  let plugin: TestPlugin
  /// What it registered.
  var handlers: [HandlerRegistration] = []
  /// Its present process, so to speak; nil: it is launched before its next run.
  var launcher: ThreadLauncher?

  init(_ plugin: TestPlugin) { self.plugin = plugin }

  var identifiers: [TaskIdentifier] { handlers.map(\.identifier) }
}
