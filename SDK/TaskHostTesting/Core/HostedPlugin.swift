import CTaskHost
import TaskHostSDK

/// A plugin in a test host.
final class HostedPlugin: @unchecked Sendable {  // reason: everything that changes is touched with the lock of its test host held
  let plugin: TestPlugin
  /// What it registered at its last launch.
  var handlers: [RegisteredHandler] = []
  /// Whether its process would have ended since: it is launched again before its next run.
  var mustRelaunch = false
  /// Its shutdown hook, where its file has one.
  var shutdown: (@convention(c) () -> Void)?

  init(_ plugin: TestPlugin) {
    self.plugin = plugin
  }

  func registers(_ identifier: String) -> Bool { handlers.contains { $0.identifier == identifier } }
}
