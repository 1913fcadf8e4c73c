public import TaskModel

/// What a launched plugin is to the host.
public struct LaunchedPlugin: Sendable {
  /// Its handlers; one, unless it declared a higher limit.
  public let handlers: [PluginHandler]
  /// What it submitted while launching, to be committed once the registry is sealed.
  public let requests: [TaskRequest]
  /// Its shutdown hook.
  public let shutdown: ShutdownHook?
}

/// `taskhost_plugin_shutdown` of a plugin.
public struct ShutdownHook: @unchecked Sendable {  // reason: a function's address, callable from any thread
  let function: @convention(c) () -> Void
}
