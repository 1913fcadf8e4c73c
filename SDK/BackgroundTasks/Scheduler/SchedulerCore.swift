import CTaskHost
import Dispatch
import Foundation
import Synchronization

/// What stands behind ``BGTaskScheduler``: the launch in progress, what it registered, and the live runs.
final class SchedulerCore: Sendable {
  struct State {
    var host: HostTable?
    /// The launch while it lasts.
    var launch: LaunchChannel?
    var registry = Registry()
    var entries: [String: HandlerEntry] = [:]
    /// What was submitted last in this process, by identifier.
    var lastTypes: [String: TaskType] = [:]
    /// What the durable state says that an identifier's last run was, as far as this process knows.
    var rememberedTypes: [String: TaskType] = [:]
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
    _ api: UnsafePointer<taskhost_api>?, _ launch: taskhost_launch, hints: [String: TaskType], _ body: () -> Void
  ) -> taskhost_status {
    let host: HostTable
    do { host = try HostTable(api) } catch { return taskhost_status(error.status) }
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
      do throws(HostError) {
        try addTarget(pattern)
        state.withLock { $0.registry.add(handler, for: pattern) }
        return true
      } catch {
        log(.error, "no launch handler is registered for \(pattern): \(error.message)")
        return false
      }
    }
  }

  private func addTarget(_ pattern: String) throws(HostError) {
    let (registry, launch) = state.withLock { ($0.registry, $0.launch) }
    guard !registry.hasHandler(pattern) else {
      throw HostError(status: TASKHOST_EEXISTS, message: "it has one already, and the first stays. Register each identifier once.")
    }
    let isCovered = registry.hints[pattern] == nil && registry.target(for: pattern)?.isWildcard == true
    guard !isCovered else { return }
    let target = registry.missingTarget(for: pattern)
    if target.isWildcard, registry.targets[target.hostIdentifier] != nil { return }
    guard let launch else {
      throw HostError(
        status: TASKHOST_ELAUNCHED,
        message: "the launch is over. Register in the function that the plugin's exported line names, or a wildcard (NAME.*) there.")
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
        do throws(HostError) { try register(target, launch) } catch { log(.error, "\(pattern) is not registered: \(error.message)") }
      }
    }
  }

  private func register(_ target: Target, _ launch: LaunchChannel) throws(HostError) {
    let entry = state.withLock { state in
      let entry = state.entries[target.hostIdentifier] ?? HandlerEntry(self, target.hostIdentifier)
      state.entries[target.hostIdentifier] = entry
      return entry
    }
    let status = target.hostIdentifier.withCString { identifier in
      var registration = taskhost_registration()
      registration.struct_size = UInt32(MemoryLayout<taskhost_registration>.size)
      registration.kind = target.kind
      registration.identifier = identifier
      registration.handler = HandlerEntry.handler
      registration.context = Unmanaged.passUnretained(entry).toOpaque()
      registration.max_concurrent_runs = target.maxConcurrentRuns
      return launch.host.api.pointee.register_handler(launch.launch, &registration)
    }
    try launch.host.check(status)
    let directory = launch.host.api.pointee.data_directory(launch.launch).map { String(cString: $0) }
    state.withLock { state in
      state.registry.add(target)
      state.dataDirectory = directory ?? state.dataDirectory
    }
  }

  // MARK: Log

  /// A line in the host's log, on whatever way there is; on standard error where there is none.
  func log(_ level: LogLevel, _ text: String) {
    if let launch = state.withLock({ $0.launch }), launch.log(level, text) { return }
    for run in runs.all where run.channel.log(level, text) == true { return }
    FileHandle.standardError.write(Data("BackgroundTasks: \(text)\n".utf8))
  }
}
