import Synchronization
import TaskModel

@testable import PluginRuntime

/// A launcher with plugins in it, in-memory services and a recording sink.
struct Bench {
  let recorder: Recorder
  let services = MemoryServices()
  let launcher: ThreadLauncher
  private static let counter = Atomic<Int64>(0)

  init(recorder: Recorder = Recorder(), stallLimit: Duration? = nil) throws {
    self.recorder = recorder
    launcher = try ThreadLauncher(
      services: services, stallLimit: { kind in kind.stallLimit.map { stallLimit ?? $0 } }, sink: { recorder.receive($0) })
  }

  /// Launches a fixture as the host would.
  static func launch(
    _ fixture: String, _ definitions: [String] = [], policy: OpenPolicy = OpenPolicy(), budget: Duration = .seconds(60)
  ) async throws -> LaunchedPlugin {
    let path = try await FixturePlugins.path(fixture, definitions)
    return try await onThread {
      try PluginImage.launch(path: path, identifier: nil, handlerLimit: 1, budget: budget, policy: policy)
    }
  }

  /// Loads a fixture and tells under which contract it runs.
  func load(
    _ fixture: String, _ definitions: [String] = [], budget: Duration? = .seconds(600), grace: Duration = .seconds(600),
    concurrent: Int = 64
  ) async throws -> HandlerContract {
    let plugin = try await Self.launch(fixture, definitions)
    guard let registered = plugin.handlers.first?.registered else { throw TestFailure("\(fixture) registered nothing") }
    let contract = HandlerContract(
      identifier: registered.identifier, kind: registered.kind, budget: budget, grace: grace, maxConcurrentRuns: concurrent)
    launcher.add(plugin, contracts: [contract])
    return contract
  }

  /// An order for a new run.
  func order(_ contract: HandlerContract, payload: [UInt8] = [], attempt: Int = 1) -> RunOrder {
    let number = Self.counter.add(1, ordering: .relaxed).newValue
    return RunOrder(
      run: RunID(sequence: number, origin: 1), request: RequestID(sequence: number, origin: 2), contract: contract, attempt: attempt,
      payload: payload)
  }

  /// Starts a run.
  @discardableResult func start(_ contract: HandlerContract, _ probe: Probe) -> RunID { start(contract, payload: probe.payload) }

  /// Starts a run.
  @discardableResult func start(_ contract: HandlerContract, payload: [UInt8]) -> RunID {
    let order = order(contract, payload: payload)
    launcher.start([order])
    return order.run
  }
}
