import CTaskHost
public import TaskModel

/// A handler that a plugin registered: what to call, and under which contract.
public struct PluginHandler: @unchecked Sendable {  // reason: two addresses that the plugin promises to keep valid
  /// What was registered, before the operator's limits are applied.
  public let registered: Registration
  let function: taskhost_handler
  let context: UnsafeMutableRawPointer?

  /// What a plugin's registration says.
  public struct Registration: Sendable, Hashable {
    /// The identifier its handler serves.
    public let identifier: TaskIdentifier
    /// What sort of work.
    public let kind: TaskKind
    /// A shorter budget than the kind's; nil: the kind's.
    public let budget: Duration?
    /// How many runs it allows at once.
    public let maxConcurrentRuns: Int
    /// For people.
    public let displayName: String?
    /// The plugin's own version.
    public let version: String?
  }
}
