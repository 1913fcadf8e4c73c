import TaskModel
public import CTaskHost
import HostThreads
public import TaskHostSDK

/// A host for unit tests. It runs plugins' handlers in this process, without a daemon, on a virtual clock.
///
/// ```swift
/// let host = try TestHost(Sync.self, settings: ["days": 7])
/// let run = try await host.run(payload: ["account": "ann"])
/// #expect(run.result == .success)
/// ```
///
/// Handlers run on their own threads under the rules of `taskhost.h`, and see virtual time. Time passes only while your test waits through
/// this host: ``run(_:payload:conditions:interruptions:)`` waits until the run ends, ``advance(by:waitingForHandlers:)`` for a given time.
/// The clock jumps from one event to the next, and only when every handler has returned or sleeps on the clock, so a ten-minute handler
/// takes no time. To sleep on the clock, a handler calls the SDK's `task.sleep(for:)` or the contract's `sleep`. The clock waits for a
/// handler that waits in any other way, or that computes.
///
/// You may use any number of hosts at the same time, from any thread. Releasing the last reference gives up live runs and removes the
/// plugins' data.
public final class TestHost: Sendable {
  let core: HostCore
  private let ownsDirectory: Bool

  /// Creates a host with one Swift plugin.
  ///
  /// - Parameter settings: The operator's configuration of the plugin: a value that is encoded as JSON, or `.json(…)`.
  /// - Throws: ``TestHostError/launchRefused(status:reason:)`` when the plugin does not launch; `EncodingError`.
  public convenience init<Plugin: BackgroundTask>(
    _ type: Plugin.Type, settings: some Encodable = JSONText("{}"), options: TestHostOptions = TestHostOptions()
  ) throws {
    try self.init([TestPlugin(type, settings: settings)], options: options)
  }

  /// Creates a host with one built plugin, `libNAME.so`.
  ///
  /// - Parameters:
  ///   - path: The file, as an operator would install it.
  ///   - settings: The operator's configuration of the plugin: a value that is encoded as JSON, or `.json(…)`.
  /// - Throws: ``TestHostError/launchRefused(status:reason:)`` when the file is not a plugin or does not launch; `EncodingError`.
  public convenience init(plugin path: String, settings: some Encodable = JSONText("{}"), options: TestHostOptions = TestHostOptions())
    throws
  {
    try self.init([TestPlugin(path: path, settings: settings)], options: options)
  }

  /// Creates a host with several plugins, launched in the given order.
  ///
  /// - Throws: ``TestHostError/launchRefused(status:reason:)`` for the first plugin that does not launch.
  public init(_ plugins: [TestPlugin], options: TestHostOptions = TestHostOptions()) throws {
    ownsDirectory = options.dataDirectory == nil
    let core = try HostCore(plugins: plugins, options: options, dataDirectory: try options.dataDirectory ?? DataDirectory.make())
    self.core = core
    do { try HostThread.start("test clock") { core.runClock() } } catch { throw TestHostError.system(error.description) }
    try core.launchAll()
  }

  deinit {
    core.stop()
    if ownsDirectory { DataDirectory.remove(core.dataDirectory) }
  }

  /// The identifiers that the plugins have registered, in order.
  public var identifiers: [String] { core.monitor.locked { core.plugins.flatMap { $0.identifiers.map(\.rawValue) } } }

  /// What the plugins logged while launching.
  public var launchLog: [LogLine] { core.monitor.locked { core.launchLog } }

  /// The live runs.
  public var liveRuns: [TestRun] { core.monitor.locked { core.runs.map(TestRun.init) } }

  /// The data directory of a plugin.
  ///
  /// - Parameter identifier: An identifier of the plugin. Default: the first one registered.
  /// - Throws: ``TestHostError``.
  public func dataDirectory(of identifier: String? = nil) throws -> String {
    try DataDirectory.folder(of: try self.identifier(identifier), in: core.dataDirectory)
  }

  /// The function table that plugins receive, for a test that calls it as a plugin would.
  public var api: UnsafePointer<taskhost_api> { core.table }

  /// The given identifier, or the first one registered.
  func identifier(_ identifier: String?) throws(TestHostError) -> String {
    if let identifier { return identifier }
    guard let first = identifiers.first else { throw TestHostError.nothingThere("this test host has no plugin") }
    return first
  }
}
