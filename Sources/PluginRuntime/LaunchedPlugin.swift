import Glibc
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

/// What serves the main queue, and the main run loop, of the libdispatch and the Foundation that a plugin brought along: without it,
/// `@MainActor` code of the plugin would hang.
public struct MainQueueServer: @unchecked Sendable {  // reason: functions' addresses, called once, on the main thread
  private typealias Function = @convention(c) () -> Void

  /// The plugin's own comes first: where it carries Foundation in itself, nobody else finds its functions. The main run loop serves the
  /// main queue too.
  private static let names = ["taskhost_plugin_serve_main_thread", "CFRunLoopRun", "dispatch_main"]

  private let functions: [Function]

  /// What a loaded plugin, or a library that it needs, exports; nil means nothing that serves a main queue.
  init?(of image: UnsafeMutableRawPointer) {
    // Searched through the plugin's handle, itself before the libraries it needs: another copy's main queue would not be the plugin's.
    functions = Self.names.compactMap { dlsym(image, $0).map { unsafeBitCast($0, to: Function.self) } }
    if functions.isEmpty { return nil }
  }

  /// Serves forever; on the process's first thread only.
  ///
  /// The run loop is the main one where that thread has loaded the plugin; else it returns, and the queue alone is served.
  public func serve() { for function in functions { function() } }
}

/// `taskhost_plugin_shutdown` of a plugin.
public struct ShutdownHook: @unchecked Sendable {  // reason: a function's address, callable from any thread
  let function: @convention(c) () -> Void
}
