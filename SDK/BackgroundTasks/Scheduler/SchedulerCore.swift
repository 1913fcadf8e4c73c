import CTaskHost
import Dispatch
import Foundation
import Synchronization
import TaskHostSDK

/// What stands behind ``BGTaskScheduler``: the launch in progress, what it registered, and the live runs.
final class SchedulerCore: Sendable {
  struct State {
    var host: HostTable?
    var launch: LaunchChannel?
    var registry = Registry()
    var entries: [String: PluginEntry] = [:]
    /// What was submitted last in this process, by identifier.
    var lastTypes: [String: BackgroundTasksPlugin.Kind] = [:]
    /// What the durable state says that an identifier's last run was, as far as this process knows.
    var rememberedTypes: [String: BackgroundTasksPlugin.Kind] = [:]
    /// What was submitted without its conditions and said so: identifier and bits.
    var saidIgnored: Set<String> = []
    /// Whose requests could not be submitted for want of a way to the host, which was said.
    var saidUnavailable: Set<String> = []
    var dataDirectory: String?
  }

  let timing: Timing
  let runs = LiveRuns()
  let state = Mutex(State())
  /// Registrations come in sequence, so that a second one of an identifier never reaches the host.
  let registering = NSLock()
  /// Looking what is pending, cancelling it and submitting is one step.
  let submitting = NSLock()
  /// Completion handlers of the app's that were asked for while launching: they may submit, so the launch lasts until they have returned.
  let launchCallbacks = DispatchGroup()

  init(timing: Timing = Timing()) {
    self.timing = timing
  }

  // MARK: Launch

  /// Launches: calls `body`, during which handlers are registered and requests submitted.
  ///
  /// - Parameter hints: What runs of identifiers and wildcards are.
  /// - Returns: What `taskhost_plugin_launch` returns.
  func launch(
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, hints: [String: BackgroundTasksPlugin.Kind], _ body: () -> Void
  ) -> taskhost_status {
    let host: HostTable
    do { host = try HostTable(api) } catch { return error.status }
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
  /// - Returns: False, with an error line in the log, where that cannot be.
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

  /// Registers the wildcards that the author has named and registered no handler for: handlers come later, one for each identifier.
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

  /// A line in the host's log, on whatever way there is; on standard error where there is none.
  func log(_ level: Logger.Level, _ text: String) {
    if let launch = state.withLock({ $0.launch }), launch.log(level, text) { return }
    for run in runs.all where run.channel.log(level, text) == true { return }
    FileHandle.standardError.write(Data("BackgroundTasks: \(text)\n".utf8))
  }
}
