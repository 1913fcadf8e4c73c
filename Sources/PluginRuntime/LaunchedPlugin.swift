import Glibc
public import TaskModel

/// The host's record of a launched plugin.
public struct LaunchedPlugin: Sendable {
  /// Its handlers; one, unless it declared a higher limit.
  public let handlers: [PluginHandler]
  /// Its submissions and cancellations during launch, which the host applies once the registry is sealed.
  public let changes: [LaunchChange]
  /// Its shutdown hook.
  public let shutdown: ShutdownHook?
  /// Serves the main queue, if the plugin brought libdispatch into the process.
  public let mainQueue: MainQueueServer?
  /// Whether it asked for settings or folder before the host knew its identifier, and was launched again for that.
  public let askedTooEarly: Bool
  /// Whether it asked for its pending requests: its behaviour may depend on them.
  public let askedForRequests: Bool
}

/// Serves the main queue and the main run loop of the libdispatch and Foundation that a plugin brought along. Without it, `@MainActor` code
/// of the plugin would hang.
public struct MainQueueServer: Sendable {
  private typealias Function = @convention(c) @Sendable () -> Void

  /// The plugin's own function comes first: if Foundation is linked into the plugin, its functions are not visible outside. The main run
  /// loop serves the main queue too.
  private static let names = ["taskhost_plugin_serve_main_thread", "CFRunLoopRun", "dispatch_main"]

  private let functions: [Function]

  /// Finds the functions in a loaded plugin or its libraries; nil if none serves a main queue.
  init?(of image: UnsafeMutableRawPointer) {
    // Searches the plugin before its libraries: the main queue of another copy of libdispatch would not be the plugin's.
    functions = Self.names.compactMap { dlsym(image, $0).map { unsafeBitCast($0, to: Function.self) } }
    if functions.isEmpty { return nil }
  }

  /// Serves forever. Call it on the process's first thread only.
  ///
  /// The run loop is the main one if that thread has loaded the plugin. Otherwise it returns, and only the queue is served.
  public func serve() { for function in functions { function() } }
}

/// `taskhost_plugin_shutdown` of a plugin.
public struct ShutdownHook: Sendable {
  let function: @convention(c) @Sendable () -> Void
}
