import HostThreads
import Logging
import PluginTrust
import TaskModel

/// Assigns identifiers to plugin files, and decides what launching plugins may know and do.
final class LaunchRegistry: @unchecked Sendable {  // reason: `taken` is touched with `monitor` held
  let configuration: HostConfiguration
  let stateDirectory: String
  let submissionRules: SubmissionRules
  let store: any RequestStore
  let fleet: LaunchFleet?
  let log: Logger
  private let monitor = Monitor()
  private var taken: [TaskIdentifier: String] = [:]
  let rules: IdentifierRules

  init(
    configuration: HostConfiguration, stateDirectory: String, submissionRules: SubmissionRules, store: any RequestStore,
    fleet: LaunchFleet?, log: Logger
  ) {
    self.configuration = configuration
    self.stateDirectory = stateDirectory
    self.submissionRules = submissionRules
    self.store = store
    self.fleet = fleet
    self.log = log
    rules = IdentifierRules(configuration)
  }

  /// Assigns the identifiers to the file.
  func take(_ identifiers: [TaskIdentifier], for file: String) {
    monitor.locked { for identifier in identifiers { taken[identifier] = file } }
  }

  /// Throws if the file may not have the identifier.
  ///
  /// - Parameter isProvisional: Whether another file may still turn out to own the identifier first.
  func check(_ identifier: TaskIdentifier, for file: String, isProvisional: Bool) throws(CallFailure) {
    if !isProvisional, let holder = monitor.locked({ taken[identifier] }), holder != file {
      throw CallFailure(.exists, "\(identifier) is registered by \(holder) already")
    }
    try rules.check(identifier, for: file)
  }

  /// Throws if a plugin with these identifiers may not submit the request, because of its identifier or of a request that it waits for.
  func check(_ request: TaskRequest, of plugin: [TaskIdentifier]) throws(LaunchFailure) {
    func maySubmit(to identifier: TaskIdentifier) -> Bool {
      plugin.contains { (try? submissionRules.check(identifier, from: $0, own: plugin)) != nil }
    }
    guard maySubmit(to: request.identifier) else {
      throw LaunchFailure(step: .status, observed: "while it launched it submitted to \(request.identifier), which it may not")
    }
    do { try submissionRules.checkFields(of: request, own: plugin) } catch {
      throw LaunchFailure(step: .status, observed: "while it launched it submitted a request that it may not: \(error.message)")
    }
    for dependency in request.after {
      guard case .request(let id) = dependency.predecessor else { continue }
      let owner: TaskIdentifier?
      do { owner = try store.request(id)?.request.identifier } catch {
        throw LaunchFailure(step: .status, observed: "the store could not be read: \(error.description)")
      }
      if let owner, !maySubmit(to: owner) {
        throw LaunchFailure(step: .status, observed: "while it launched it submitted a request that waits for \(id), which it may not")
      }
    }
  }

  func has(_ identifier: TaskIdentifier, file: String) -> Bool { monitor.locked { taken[identifier] == file } }

  /// The host's decisions while a file's plugin launches.
  ///
  /// - Parameters:
  ///   - isProvisional: See ``check(_:for:isProvisional:)``.
  ///   - isOwner: Whether the identifiers that it will register are certainly its own: only their owner sees their requests.
  func policy(for file: String, isProvisional: Bool, isOwner: Bool = false) -> Policy {
    Policy(registry: self, file: file, isProvisional: isProvisional, isOwner: isOwner)
  }

  struct Policy: LaunchPolicy {
    let registry: LaunchRegistry
    let file: String
    let isProvisional: Bool
    let isOwner: Bool

    func admit(_ identifier: TaskIdentifier) throws(CallFailure) {
      try registry.check(identifier, for: file, isProvisional: isProvisional)
    }

    func settings(for identifier: TaskIdentifier) -> String { registry.configuration.plugin(identifier.rawValue).settings }

    func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String {
      do { return try StateDirectory.dataDirectory(in: registry.stateDirectory, for: identifier) } catch {
        throw CallFailure(.unavailable, error.message)
      }
    }

    func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {
      try registry.submissionRules.check(request.identifier, from: identifier)
    }

    /// A restarted worker keeps its original policy, but the file owns its identifiers by then.
    func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage {
      let own = identifiers.filter { identifier in
        if registry.has(identifier, file: file) { return true }
        return isOwner && (try? registry.check(identifier, for: file, isProvisional: false)) != nil
      }
      do throws(StoreError) {
        guard let fleet = registry.fleet, fleet.shares(own) else { return try registry.store.pendingRequests(of: own, after: request) }
        return try fleet.pendingRequests(of: own, after: request, besides: registry.store)
      } catch { throw CallFailure(.unavailable, error.description) }
    }

    /// A plugin launched in the host reaches everything that the host does.
    func entitlement(to path: String) -> PathEntitlement { [.read, .write] }

    func resourceTokens(_ name: String) -> Int { registry.configuration.resources[name] ?? 0 }

    func log(_ line: LogLine) {
      registry.log.log(
        level: Logger.Level(line.level), "\(line.message)",
        metadata: line.metadata(["plugin": .string(file), "phase": "registering"]))
    }
  }
}
