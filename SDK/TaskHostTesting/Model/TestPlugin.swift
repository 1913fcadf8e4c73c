public import TaskHostSDK

/// A plugin for a test host: a Swift type, or a file as an operator installs it.
public struct TestPlugin: Sendable {
  enum Source: Sendable {
    case function(@Sendable (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status, handlerLimit: Int)
    case file(String)
  }

  let source: Source
  let settings: [UInt8]

  /// A Swift type, launched as its exported function would launch it.
  ///
  /// - Parameter settings: The operator's configuration of the plugin: a value that is encoded as JSON, or `.json(…)`.
  /// - Throws: `EncodingError`.
  public init<Plugin: BackgroundTask>(_ type: Plugin.Type, settings: some Encodable = JSONText("{}")) throws {
    try self.init(launch: { TaskHostPlugin.launch(type, $0, $1) }, settings: settings)
  }

  /// A launch function, for a plugin that is neither a `BackgroundTask` nor a file of its own.
  ///
  /// - Parameter handlerLimit: The most handlers it may register; a file states it in `taskhost_plugin_handler_limit`.
  /// - Throws: `EncodingError`.
  public init(
    handlerLimit: Int = 1, launch: @escaping @Sendable (UnsafePointer<taskhost_api>?, taskhost_launch) -> taskhost_status,
    settings: some Encodable = JSONText("{}")
  ) throws {
    source = .function(launch, handlerLimit: handlerLimit)
    self.settings = try TestJSON.bytes(of: settings)
  }

  /// A built plugin, `libNAME.so`. Each launch loads a private copy into the test's process, so tests do not share its global variables.
  ///
  /// - Throws: `EncodingError`.
  public init(path: String, settings: some Encodable = JSONText("{}")) throws {
    source = .file(path)
    self.settings = try TestJSON.bytes(of: settings)
  }
}
