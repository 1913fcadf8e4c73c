import TaskModel
public import CTaskHost
import HostThreads
public import TaskHostSDK

/// A host for unit tests: runs the handlers of plugins in this process, with no daemon, on a clock of its own.
///
/// ```swift
/// let host = try TestHost(Sync.self, settings: ["days": 7])
/// let run = try await host.run(payload: ["account": "ann"])
/// #expect(run.result == .success)
/// ```
///
/// Handlers run on threads of their own, under the rules of `taskhost.h`; what they are told of the time is virtual. Time passes only while
/// your test waits for something through this host: ``run(_:payload:conditions:interruptions:)`` lets it pass until the run has ended,
/// ``advance(by:waitingForHandlers:)`` by so much. It jumps from one event to the next, and only when every handler is asleep on the clock
/// or has returned, so a ten-minute handler takes no time. Asleep on the clock means: in the SDK's `task.sleep(for:)` or the contract's
/// `sleep`. Other ways to wait, and work that takes long, are not seen, and the clock waits for them.
///
/// Use as many as you like at the same time, from any thread. When the last reference is gone, live runs are given up and the plugins' data
/// is removed.
public final class TestHost: Sendable {
  let core: HostCore
  private let ownsDirectory: Bool

  /// A host with one Swift plugin.
  ///
  /// - Parameter settings: What the operator's configuration gives it: a value that is encoded as JSON, or `.json(…)`.
  /// - Throws: ``TestHostError/launchRefused(status:reason:)`` when the plugin does not launch; `EncodingError`.
  public convenience init<Plugin: BackgroundTask>(
    _ type: Plugin.Type, settings: some Encodable = JSONText("{}"), options: TestHostOptions = TestHostOptions()
  ) throws {
    try self.init([TestPlugin(type, settings: settings)], options: options)
  }

  /// A host with one built plugin, `libNAME.so`.
  ///
  /// - Parameters:
  ///   - path: The file, as an operator would install it.
  ///   - settings: What the operator's configuration gives it: a value that is encoded as JSON, or `.json(…)`.
  /// - Throws: ``TestHostError/launchRefused(status:reason:)`` when it is no plugin or does not launch; `EncodingError`.
  public convenience init(plugin path: String, settings: some Encodable = JSONText("{}"), options: TestHostOptions = TestHostOptions())
    throws
  {
    try self.init([TestPlugin(path: path, settings: settings)], options: options)
  }

  /// A host with several plugins, launched in that order.
  ///
  /// - Throws: ``TestHostError/launchRefused(status:reason:)`` for the first that does not launch.
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

  /// The identifiers that its plugins have registered, in order.
  public var identifiers: [String] { core.monitor.locked { core.plugins.flatMap { $0.identifiers.map(\.rawValue) } } }

  /// What the plugins logged while launching.
  public var launchLog: [LogLine] { core.monitor.locked { core.launchLog } }

  /// The runs that are live.
  public var liveRuns: [TestRun] { core.monitor.locked { core.runs.map(TestRun.init) } }

  /// The folder that a plugin is given for its data.
  ///
  /// - Parameter identifier: Default: the only, or first, one registered.
  /// - Throws: ``TestHostError``.
  public func dataDirectory(of identifier: String? = nil) throws -> String {
    try DataDirectory.folder(of: try self.identifier(identifier), in: core.dataDirectory)
  }

  /// The table of functions that the plugins are given, for a test that calls it as a plugin would.
  public var api: UnsafePointer<taskhost_api> { core.table }

  /// That identifier, or the first that was registered.
  func identifier(_ identifier: String?) throws(TestHostError) -> String {
    if let identifier { return identifier }
    guard let first = identifiers.first else { throw TestHostError.nothingThere("this test host has no plugin") }
    return first
  }
}
