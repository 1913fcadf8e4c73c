public import TaskHostSDK

/// A plugin for a test host: a Swift type, or a file as an operator installs it.
public struct TestPlugin: Sendable {
  enum Source: Sendable {
    case function(@Sendable (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status, handlerLimit: Int)
    case file(String)
  }

  let source: Source
  let settings: [UInt8]

  /// A Swift type, launched as its exported function would.
  ///
  /// - Parameter settings: What the operator's configuration gives it: a value that is encoded as JSON, or `.json(…)`.
  /// - Throws: `EncodingError`.
  public init<Plugin: BackgroundTask>(_ type: Plugin.Type, settings: some Encodable = JSONText("{}")) throws {
    try self.init(launch: { TaskHostPlugin.launch(type, $0, $1) }, settings: settings)
  }

  /// A launch function, for what is neither a `BackgroundTask` nor in a file of its own.
  ///
  /// - Parameter handlerLimit: How many handlers it may register: what a file says by `taskhost_plugin_handler_limit`.
  /// - Throws: `EncodingError`.
  public init(
    handlerLimit: Int = 1, launch: @escaping @Sendable (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status,
    settings: some Encodable = JSONText("{}")
  ) throws {
    source = .function(launch, handlerLimit: handlerLimit)
    self.settings = try TestJSON.bytes(of: settings)
  }

  /// A built plugin, `libNAME.so`. It is loaded into the test's process from a private copy, one for each launch, so that tests do not meet
  /// in its global variables.
  ///
  /// - Throws: `EncodingError`.
  public init(path: String, settings: some Encodable = JSONText("{}")) throws {
    source = .file(path)
    self.settings = try TestJSON.bytes(of: settings)
  }
}
