import HostThreads
import PluginTrust
public import TaskModel
import WorkerLink
import WorkerProcesses

/// Launches a plugin in a worker process as a host does, in the default sandbox, where there is no host: for `taskhost plugins check`.
///
/// Program, environment, confinement and launch are those of ``PluginLaunching``.
public struct PluginTrial: Sendable {
  private let specs: WorkerSpecs
  private let policy: Policy

  /// - Parameters:
  ///   - settings: What the plugin's `configuration` gives: a JSON object.
  ///   - directory: Takes the place of the state directory; the plugin's own folder is made in it. An absolute path.
  /// - Throws: If the worker program is missing.
  public init(settings: String, directory: String) throws(HostFailure) {
    specs = try WorkerSpecs(HostConfiguration(directory: directory), stateDirectory: directory)
    policy = Policy(settings: settings, directory: directory)
  }

  /// Launches the plugin, and ends it again. Blocks; not on a thread of Swift's concurrency.
  ///
  /// - Parameters:
  ///   - file: What is loaded, an absolute path.
  ///   - path: The file's own path, for sentences.
  ///   - identifier: Who the plugin is, where its file says so; nil: a first launch, in a sandbox without a folder, finds out.
  ///   - adoption: The function that is the handler of a library that a manifest adopts; nil: the file is a plugin.
  ///   - handlerLimit: How many handlers it may register.
  /// - Returns: What it registered, or why the host would refuse it.
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
    // Where its registration has to tell who it is, a host launches it again, in its own folder, if it asked for its settings; and where it
    // did not launch, if there are any.
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
    func log(_ line: LogLine) {}
  }

  /// It is launched and given no run.
  private struct NoRuns: WorkerServices {
    func serve(_ call: WorkerCall, for run: RunReference, completion: @escaping @Sendable (CallAnswer) -> Void) {
      completion(.failure(.stale))
    }
  }
}
