import TestSupport
import Foundation
import HostThreads
public import PluginRuntime
import Synchronization
public import TaskModel
public import WorkerProcesses

/// A launcher with plugins in it, in-memory services and a recording sink. Shut down when it goes out of use.
public final class Bench: Sendable {
  /// A plugin that has launched.
  public struct Launched: Sendable {
    /// What it registered.
    public let registrations: [HandlerRegistration]
    /// What it submitted and cancelled, in order.
    public let changes: [LaunchChange]
    /// Whether it asked which of its requests are pending.
    public let askedForRequests: Bool
    /// In this process; nil: in a worker.
    public let plugin: LaunchedPlugin?
    /// Its worker; nil: it is in this process.
    public let worker: PluginWorker?
  }

  /// Where it runs handlers.
  public let isolation: Isolation
  /// Keeps every event.
  public let recorder: Recorder
  /// What runs ask for.
  public let services: MemoryServices
  /// Under test.
  public let launcher: any Launcher
  private let isShutDown = Atomic(false)
  private static let counter = Atomic<Int64>(0)

  /// A bench with that launcher.
  public init(_ isolation: Isolation, recorder: Recorder = Recorder()) throws {
    self.isolation = isolation
    self.recorder = recorder
    services = MemoryServices()
    switch isolation {
    case .threads: launcher = try ThreadLauncher(services: services) { recorder.receive($0) }
    case .processes: launcher = try ProcessLauncher(services: services) { recorder.receive($0) }
    }
  }

  /// A bench with a launcher of threads that is made as its test needs it.
  public init(recorder: Recorder = Recorder(), threads: (MemoryServices, Recorder) throws -> ThreadLauncher) throws {
    isolation = .threads
    self.recorder = recorder
    services = MemoryServices()
    launcher = try threads(services, recorder)
  }

  deinit {
    guard !isShutDown.load(ordering: .relaxed) else { return }
    let launcher = launcher
    try? HostThread.start("test") { _ = launcher.shutdown() }
  }

  /// Ends the launcher; how many threads or processes could not be ended.
  public func shutdown() async throws -> Int {
    isShutDown.store(true, ordering: .relaxed)
    let launcher = launcher
    return try await onThread { launcher.shutdown() }
  }

  /// What a fixture's workers are started with. Its limits leave room for the threads that tests ask for.
  public static func spec(
    _ plugin: String, budget: Duration = .seconds(60), exec: Bool = false, handlerLimit: Int = 1
  ) throws -> WorkerSpec {
    WorkerSpec(
      executable: try BuiltProgram.worker, name: URL(filePath: plugin).lastPathComponent,
      confinement: Confinement(
        plugin: plugin, dataDirectory: TestFolder.data, memory: 4 << 30, processes: 512, write: [TestFolder.shared], exec: exec),
      identifier: nil, handlerLimit: handlerLimit, launchBudget: budget, environment: ["PATH=/usr/bin:/bin"])
  }

  /// Launches a fixture as the host would.
  public func launch(
    _ fixture: String, _ definitions: [String] = [], policy: OpenPolicy = OpenPolicy(), budget: Duration = .seconds(60),
    handlerLimit: Int = 1
  ) async throws -> Launched {
    try await launch(path: CompiledFixtures.plugin(fixture, definitions), policy: policy, budget: budget, handlerLimit: handlerLimit)
  }

  /// Launches a file as the host would.
  public func launch(
    path: String, policy: OpenPolicy = OpenPolicy(), budget: Duration = .seconds(60), handlerLimit: Int = 1
  ) async throws -> Launched {
    guard let processes = launcher as? ProcessLauncher else {
      let plugin = try await onThread {
        try PluginImage.launch(LaunchOrder(path: path, identifier: nil, handlerLimit: handlerLimit, policy: policy), budget: budget)
      }
      return Launched(
        registrations: plugin.handlers.map(\.registered), changes: plugin.changes, askedForRequests: plugin.askedForRequests,
        plugin: plugin, worker: nil)
    }
    return try await Self.launch(processes.worker(try Self.spec(path, budget: budget, handlerLimit: handlerLimit), policy: policy))
  }

  /// Launches a plugin in a worker.
  public static func launch(_ worker: PluginWorker) async throws -> Launched {
    let launch = try await onThread { try worker.launch() }
    return Launched(
      registrations: launch.registrations, changes: launch.changes, askedForRequests: launch.askedForRequests, plugin: nil, worker: worker)
  }

  /// A worker of this bench's launcher, without a process yet.
  public func worker(_ spec: WorkerSpec, policy: OpenPolicy = OpenPolicy()) throws -> PluginWorker {
    guard let processes = launcher as? ProcessLauncher else { throw TestFailure("a bench of threads has no workers") }
    return processes.worker(spec, policy: policy)
  }

  /// Adds a worker under that contract.
  public func add(_ worker: PluginWorker, _ contract: HandlerContract) throws {
    guard let processes = launcher as? ProcessLauncher else { throw TestFailure("a bench of threads has no workers") }
    processes.add(worker, contracts: [contract])
  }

  /// Loads a fixture and tells under which contract it runs.
  public func load(
    _ fixture: String, _ definitions: [String] = [], budget: Duration? = .seconds(600), grace: Duration = .seconds(600),
    concurrent: Int = 64
  ) async throws -> HandlerContract {
    try add(await launch(fixture, definitions), budget: budget, grace: grace, concurrent: concurrent)
  }

  /// Adds a plugin that has launched and tells under which contract it runs.
  public func add(
    _ launched: Launched, budget: Duration? = .seconds(600), grace: Duration = .seconds(600), concurrent: Int = 64
  ) throws -> HandlerContract {
    guard let registered = launched.registrations.first else { throw TestFailure("it registered nothing") }
    let contract = HandlerContract(
      identifier: registered.identifier, kind: registered.kind, budget: budget, grace: grace, maxConcurrentRuns: concurrent)
    if let plugin = launched.plugin, let threads = launcher as? ThreadLauncher { threads.add(plugin, contracts: [contract]) }
    if let worker = launched.worker, let processes = launcher as? ProcessLauncher {
      worker.adopt(launched.registrations, contracts: [contract])
      processes.add(worker, contracts: [contract])
    }
    return contract
  }

  /// An order for a new run.
  public func order(_ contract: HandlerContract, payload: [UInt8] = [], attempt: Int = 1) -> RunOrder {
    let number = Self.counter.add(1, ordering: .relaxed).newValue
    return RunOrder(
      run: RunID(sequence: number, origin: 1), request: RequestID(sequence: number, origin: 2), contract: contract, attempt: attempt,
      payload: payload)
  }

  /// Starts a run.
  @discardableResult public func start(_ contract: HandlerContract, _ probe: Probe) -> RunID { start(contract, payload: probe.payload) }

  /// Starts a run.
  @discardableResult public func start(_ contract: HandlerContract, payload: [UInt8]) -> RunID {
    let order = order(contract, payload: payload)
    launcher.start([order])
    return order.run
  }

  /// Starts a run and waits for its end.
  public func run(_ contract: HandlerContract, payload: [UInt8]) async throws -> Recorder.End {
    try await recorder.end(of: start(contract, payload: payload))
  }
}
