import CTaskHost
public import TaskModel

/// A handler that a plugin registered: what to call, and under which contract.
public struct PluginHandler: @unchecked Sendable {  // reason: two addresses that the plugin promises to keep valid
  /// What was registered, before the operator's limits are applied.
  public let registered: HandlerRegistration
  let function: taskhost_handler
  let context: UnsafeMutableRawPointer?
}
