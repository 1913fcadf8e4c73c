import CTaskHost
import Dispatch
import Foundation
import Synchronization
import TaskHostSDK

/// The implementation of ``BGTaskScheduler``: the launch in progress, its registrations, and the live runs.
final class SchedulerCore: Sendable {
  struct State {
    var host: HostFunctions?
    var launch: LaunchChannel?
    var registry = Registry()
    var entries: [String: PluginEntry] = [:]
    /// The last kind submitted in this process, by identifier.
    var lastTypes: [String: BackgroundTasksPlugin.Kind] = [:]
    /// The kind of an identifier's last run in the durable state, if this process knows it.
    var rememberedTypes: [String: BackgroundTasksPlugin.Kind] = [:]
    /// Requests submitted without their conditions that the log has mentioned: identifier and bits.
    var saidIgnored: Set<String> = []
    /// Identifiers that the log has mentioned because their requests could not reach the host.
    var saidUnavailable: Set<String> = []
    var dataDirectory: String?
    var supportedResources: BGContinuedProcessingTaskRequest.Resources = []
  }

  /// The operator's name for graphics processors.
  static let gpu = "gpu"

  let timing: Timing
  let runs = LiveRuns()
  /// The background sessions.
  let transfers: SessionTransfers
  let state = Mutex(State())
  /// Makes registrations serial, so that a second one of an identifier never reaches the host.
  let registering = NSLock()
  /// Makes lookup, cancellation and submission one step.
  let submitting = NSLock()
  /// The app's completion handlers during launch. They may submit, so the launch lasts until they return.
  let launchCallbacks = DispatchGroup()

  init(timing: Timing = Timing()) {
    self.timing = timing
    transfers = SessionTransfers(runs)
  }

  /// Launches: calls `body`, which registers handlers and may submit requests.
  ///
  /// - Parameter hints: The kinds of identifiers and wildcards.
  /// - Returns: The result of `taskhost_plugin_launch`.
  func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, hints: [String: BackgroundTasksPlugin.Kind], _ body: () -> Void
  ) -> taskhost_status {
    let host: HostFunctions
    do { host = try HostFunctions(api) } catch { return error.status }
    let channel = LaunchChannel(host, launch)
    let resources: BGContinuedProcessingTaskRequest.Resources = host.tokens(of: Self.gpu, launch) > 0 ? .gpu : []
    state.withLock { state in
      state.supportedResources = resources
      state.host = host
      state.launch = channel
      state.registry = Registry(hints: hints)
    }
    body()
    addHintedWildcards()
    let registry = state.withLock { $0.registry }
    for hint in hints.keys.sorted() where !hint.hasSuffix(".*") && !registry.hasHandler(hint) {
      log(.warning, "a kind is given for \(hint), but no launch handler was registered for it")
    }
    _ = launchCallbacks.wait(timeout: .now() + timing.launchLimit.dispatchInterval)
    channel.waitForQuiet(timing.launchQuiet, limit: timing.launchLimit)
    state.withLock { $0.launch = nil }
    channel.close()
    return taskhost_status(TASKHOST_OK)
  }

  /// The resources that a request may require.
  var supportedResources: BGContinuedProcessingTaskRequest.Resources { state.withLock { $0.supportedResources } }

  /// Registers a handler.
  ///
  /// - Returns: False, with an error line in the log, if that is not possible.
  func register(_ pattern: String, _ handler: LaunchHandler) -> Bool {
    registering.withLock {
      do throws(TaskHostError) {
        try addTarget(pattern)
        state.withLock { $0.registry.add(handler, for: pattern) }
        return true
      } catch {
        log(.error, "no launch handler is registered for \(pattern): \(error.message)")
        return false
      }
    }
  }

  private func addTarget(_ pattern: String) throws(TaskHostError) {
    let (registry, launch) = state.withLock { ($0.registry, $0.launch) }
    guard !registry.hasHandler(pattern) else {
      throw TaskHostError(TASKHOST_EEXISTS, "it has one already, and the first stays. Register each identifier once.")
    }
    let isCovered = registry.hints[pattern] == nil && registry.target(for: pattern)?.isWildcard == true
    guard !isCovered else { return }
    let target = registry.missingTarget(for: pattern)
    if target.isWildcard, registry.targets[target.hostIdentifier] != nil { return }
    guard let launch else {
      throw TaskHostError(
        TASKHOST_ELAUNCHED,
        "the launch is over. Register in the function that the plugin's exported line names, or a wildcard (NAME.*) there.")
    }
    try register(target, launch)
  }

  /// Registers the wildcards that the author named without a handler: their identifiers get handlers later.
  private func addHintedWildcards() {
    registering.withLock {
      let (registry, launch) = state.withLock { ($0.registry, $0.launch) }
      guard let launch else { return }
      for (pattern, hint) in registry.hints.sorted(by: { $0.key < $1.key }) {
        let target = Target(pattern, hint: hint)
        guard target.isWildcard, registry.targets[target.hostIdentifier] == nil else { continue }
        do throws(TaskHostError) { try register(target, launch) } catch { log(.error, "\(pattern) was not registered: \(error.message)") }
      }
    }
  }

  private func register(_ target: Target, _ launch: LaunchChannel) throws(TaskHostError) {
    let identifier = target.hostIdentifier
    let entry = state.withLock { state in
      let entry = state.entries[identifier] ?? PluginEntry()
      state.entries[identifier] = entry
      return entry
    }
    entry.install { [self] in serve($0, identifier) }
    try launch.host.check(
      launch.host.register(identifier, target.kind, entry, maxConcurrentRuns: target.maxConcurrentRuns, in: launch.launch))
    let directory = launch.host.api.pointee.data_directory(launch.launch).map { String(cString: $0) }
    if let directory { PluginPlace.note(dataDirectory: directory) }
    state.withLock { state in
      state.registry.add(target)
      state.dataDirectory = directory ?? state.dataDirectory
    }
  }

  /// Writes a line to the host's log through the launch or a live run, else to standard error.
  func log(_ level: Logger.Level, _ text: String) {
    if let launch = state.withLock({ $0.launch }), launch.log(level, text) { return }
    for run in runs.all where run.channel.log(level, text) == true { return }
    FileHandle.standardError.write(Data("BackgroundTasks: \(text)\n".utf8))
  }
}

/// The times that this module measures, on the monotonic clock.
struct Timing: Sendable {
  /// The time for a refresh whose identifier is registered with a longer kind: Apple's 30 s.
  var refresh = Duration.seconds(30)
  /// The grace of such a refresh, during which its author can still submit: that of a refresh task.
  var refreshGrace = Duration.seconds(5)
  /// How long a completed run waits for a request that its author submits right afterwards.
  var successor = Duration.milliseconds(100)
  /// How long a launch waits for a request from another queue or Swift task, and after each for the next.
  var launchQuiet = Duration.milliseconds(50)
  /// The longest that a launch waits for completion handlers, and then for further requests.
  var launchLimit = Duration.seconds(1)
}
