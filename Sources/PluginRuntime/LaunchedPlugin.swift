public import TaskModel

/// What a launched plugin is to the host.
public struct LaunchedPlugin: Sendable {
  /// Its handlers; one, unless it declared a higher limit.
  public let handlers: [PluginHandler]
  /// What it submitted and cancelled while launching, to be carried out once the registry is sealed.
  public let changes: [LaunchChange]
  /// Its shutdown hook.
  public let shutdown: ShutdownHook?
  /// What serves the main queue, if the plugin brought libdispatch into the process.
  public let mainQueue: MainQueueServer?
  /// Whether it asked for its settings or its folder before the host knew who it is, and was launched once more for that.
  public let askedTooEarly: Bool
  /// Whether it asked which of its requests are pending: what it did may depend on them.
  public let askedForRequests: Bool
}

/// `dispatch_main` of the libdispatch that a plugin brought along: without it, `@MainActor` code of the plugin would hang.
public struct MainQueueServer: @unchecked Sendable {  // reason: a function's address, called once, on the main thread
  let function: @convention(c) () -> Void

  /// Serves the main queue for ever; on the process's first thread only.
  public func serve() { function() }
}

/// `taskhost_plugin_shutdown` of a plugin.
public struct ShutdownHook: @unchecked Sendable {  // reason: a function's address, callable from any thread
  let function: @convention(c) () -> Void
}
