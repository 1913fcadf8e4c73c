import HostThreads
import PluginTrust
public import TaskModel
import WorkerLink
import WorkerProcesses

/// Launches a plugin in a worker process without a host, in the default sandbox, for `taskhost plugins check`.
///
/// Program, environment, confinement and launch are the same as in a host.
public struct PluginTrial: Sendable {
  private let specs: WorkerSpecs
  private let policy: Policy

  /// - Parameters:
  ///   - settings: The result of the plugin's `configuration`, a JSON object.
  ///   - directory: The absolute path of a folder that replaces the state directory; the plugin's own folder is created in it.
  /// - Throws: If the worker program is missing.
  public init(settings: String, directory: String) throws(HostFailure) {
    specs = try WorkerSpecs(HostConfiguration(directory: directory), stateDirectory: directory)
    policy = Policy(settings: settings, directory: directory)
  }

  /// Launches the plugin and ends it. Blocks, so do not call it on a thread of Swift's cooperative pool.
  ///
  /// - Parameters:
  ///   - file: The absolute path of the file to load.
  ///   - path: The original path, for messages.
  ///   - identifier: The identifier that the file declares; nil determines it by a first launch in a sandbox without a folder.
  ///   - adoption: The handler's function in an adopted library; nil if the file is a plugin.
  ///   - handlerLimit: The maximum number of handlers it may register.
  /// - Returns: Its registrations, or the reason why the host would refuse it.
  /// - Throws: If no worker could be started.
  public func launch(
    _ file: String, path: String, identifier: TaskIdentifier?, adoption: LibraryAdoption?, handlerLimit: Int
  ) throws(HostFailure) -> Result<[HandlerRegistration], LaunchFailure> {
    let processes: ProcessLauncher
    do throws(HostThread.Failure) { processes = try ProcessLauncher(services: NoRuns()) { _ in } } catch {
      throw HostFailure(.configuration, error.description)
    }
    defer { _ = processes.shutdown() }
    let candidate = PluginCandidate(
      path: path, digest: [], copy: file, elf: nil, signature: .unsigned(note: nil), adoption: adoption, remembered: nil)
    var claimed: TaskIdentifier?
    func launch(as identifier: TaskIdentifier?) throws(HostFailure) -> Result<PluginWorker.Launch, LaunchFailure> {
      let worker = processes.worker(
        try specs.spec(for: candidate, handlerLimit: handlerLimit, identifier: identifier), policy: policy)
      defer { worker.close() }
      let outcome = Result { () throws(LaunchFailure) in try worker.launch() }
      claimed = worker.claimedIdentifier
      return outcome
    }
    let first = try launch(as: identifier)
    // If only the registration reveals the identifier, a host launches the plugin again in its own folder: after a successful launch if it
    // asked for its settings, after a failed one if it has settings.
    guard identifier == nil, let claimed else { return first.map(\.registrations) }
    let isRepeated = if case .success(let launch) = first { launch.askedForSettings } else { policy.settings != "{}" }
    return (isRepeated ? try launch(as: claimed) : first).map(\.registrations)
  }

  /// A host that permits every identifier and has nothing pending.
  private struct Policy: LaunchPolicy {
    let settings: String
    let directory: String

    func admit(_ identifier: TaskIdentifier) throws(CallFailure) {}
    func settings(for identifier: TaskIdentifier) -> String { settings }
    func dataDirectory(for identifier: TaskIdentifier) throws(CallFailure) -> String {
      do { return try StateDirectory.dataDirectory(in: directory, for: identifier) } catch {
        throw CallFailure(.unavailable, error.message)
      }
    }
    func admit(_ request: TaskRequest, from identifier: TaskIdentifier) throws(CallFailure) {}
    func pendingRequests(of identifiers: [TaskIdentifier], after request: RequestID?) throws(CallFailure) -> PendingPage { PendingPage() }
    func entitlement(to path: String) -> PathEntitlement { [.read, .write] }
    func resourceTokens(_ name: String) -> Int { 0 }
    func log(_ line: LogLine) {}
  }

  /// The plugin gets no runs.
  private struct NoRuns: WorkerServices {
    func serve(_ call: WorkerCall, for run: RunReference, completion: @escaping @Sendable (CallAnswer) -> Void) {
      completion(.failure(.stale))
    }
  }
}
