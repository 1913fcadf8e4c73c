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
    /// The kind that was last submitted in this process, by identifier.
    var lastTypes: [String: BackgroundTasksPlugin.Kind] = [:]
    /// The kind of an identifier's last run in the durable state, as far as this process knows.
    var rememberedTypes: [String: BackgroundTasksPlugin.Kind] = [:]
    /// Requests without their conditions that the log has mentioned: identifier and bits.
    var saidIgnored: Set<String> = []
    /// Identifiers whose requests could not reach the host, which the log has mentioned.
    var saidUnavailable: Set<String> = []
    var dataDirectory: String?
  }

  let timing: Timing
  let runs = LiveRuns()
  let state = Mutex(State())
  /// Registrations are serial, so that a second one of an identifier never reaches the host.
  let registering = NSLock()
  /// Looking up what is pending, cancelling it and submitting is one step.
  let submitting = NSLock()
  /// Completion handlers that the app asked for during launch. They may submit, so the launch lasts until they have returned.
  let launchCallbacks = DispatchGroup()

  init(timing: Timing = Timing()) {
    self.timing = timing
  }

  // MARK: Launch

  /// Launches: calls `body`, during which handlers are registered and requests submitted.
  ///
  /// - Parameter hints: The kinds of identifiers and wildcards.
  /// - Returns: What `taskhost_plugin_launch` returns.
  func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, hints: [String: BackgroundTasksPlugin.Kind], _ body: () -> Void
  ) -> taskhost_status {
    let host: HostFunctions
    do { host = try HostFunctions(api) } catch { return error.status }
    let channel = LaunchChannel(host, launch)
    state.withLock { state in
      state.host = host
      state.launch = channel
      state.registry = Registry(hints: hints)
    }
    body()
    addHintedWildcards()
    let registry = state.withLock { $0.registry }
    for hint in hints.keys.sorted() where !hint.hasSuffix(".*") && !registry.hasHandler(hint) {
      log(.warning, "the kind of \(hint) is given and no launch handler was registered for it")
    }
    _ = launchCallbacks.wait(timeout: .now() + timing.launchLimit.dispatchInterval)
    channel.waitForQuiet(timing.launchQuiet, limit: timing.launchLimit)
    state.withLock { $0.launch = nil }
    channel.close()
    return taskhost_status(TASKHOST_OK)
  }

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

  /// Registers the wildcards that the author named without a handler: handlers come later, one for each identifier.
  private func addHintedWildcards() {
    registering.withLock {
      let (registry, launch) = state.withLock { ($0.registry, $0.launch) }
      guard let launch else { return }
      for (pattern, hint) in registry.hints.sorted(by: { $0.key < $1.key }) {
        let target = Target(pattern, hint: hint)
        guard target.isWildcard, registry.targets[target.hostIdentifier] == nil else { continue }
        do throws(TaskHostError) { try register(target, launch) } catch { log(.error, "\(pattern) is not registered: \(error.message)") }
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
    state.withLock { state in
      state.registry.add(target)
      state.dataDirectory = directory ?? state.dataDirectory
    }
  }

  // MARK: Log

  /// Writes a line to the host's log through the launch or a live run; without either, to standard error.
  func log(_ level: Logger.Level, _ text: String) {
    if let launch = state.withLock({ $0.launch }), launch.log(level, text) { return }
    for run in runs.all where run.channel.log(level, text) == true { return }
    FileHandle.standardError.write(Data("BackgroundTasks: \(text)\n".utf8))
  }
}

/// The times that this module measures itself, on the monotonic clock.
struct Timing: Sendable {
  /// The time for a refresh whose identifier is registered with a longer kind: Apple's 30 s.
  var refresh = Duration.seconds(30)
  /// Its grace, during which its author can also submit: the grace of a refresh task.
  var refreshGrace = Duration.seconds(5)
  /// How long a completed run waits for a request that its author submits just after completing it.
  var successor = Duration.milliseconds(100)
  /// How long a launch waits for a request from another queue or a Swift task, and after each for the next.
  var launchQuiet = Duration.milliseconds(50)
  /// The maximum time that a launch waits for completion handlers in progress, and then for further requests.
  var launchLimit = Duration.seconds(1)
}
