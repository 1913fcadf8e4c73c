import PluginTrust
public import TaskModel
public import TaskScheduler
import WorkerProcesses

/// One look at a host.
public struct HostOverview: Sendable, Hashable {
  /// Where it is in its life.
  public let phase: HostPhase
  /// How many requests are in each state.
  public let requests: [RequestState: Int]
  /// When the next pending request is due that could be started then; nil: none is.
  public let nextDue: WallTime?
  /// Its live runs.
  public let running: Int
  /// Every plugin file that was found, in file-name order.
  public let plugins: [PluginOverview]
  /// What the host lacks to run plugins, by whose.
  public let shortages: [TaskIdentifier: HostShortage]
  /// What the kernel does not give of the plugins' sandbox.
  public let sandbox: [String]
}

/// A plugin file and what became of it.
public struct PluginOverview: Sendable, Hashable {
  /// The file's path.
  public let file: String
  /// What it registered; nil when it was refused.
  public let contract: HandlerContract?
  /// Its runs now.
  public let running: Int
  /// Where its code runs; nil when it was refused.
  public let isolation: PluginConfiguration.Isolation?
  /// Its worker process now; nil: none runs.
  public let worker: Int32?
  /// What counts against it.
  public let standing: Standing
  /// The key its file is signed with; nil: it is not, or not with one that is trusted.
  public let signature: String?
  /// SHA-256 of its file, in hexadecimal; nil when it was refused.
  public let digest: String?
  /// What of its sandbox the kernel does not give.
  public let sandbox: [String]
  /// How much of its rate limit is left, for people; nil: it has none.
  public let rate: String?
  /// How much of its quota of run time is used, for people; nil: it has none.
  public let quota: String?
  /// Why it takes no runs: a code and a sentence; nil: it does.
  public let obstacleCode: String?
  /// The sentence to the code.
  public let obstacle: String?
}

extension PluginLaunching.Result {
  /// Every file in the order of names, with how its handlers stand.
  func overviews(_ handlers: [TaskIdentifier: HandlerOverview]) -> [PluginOverview] {
    let registered = registered.flatMap { plugin in plugin.contracts.map { plugin.overview(of: $0, handlers[$0.identifier]) } }
    let refused = refused.map {
      PluginOverview(
        file: $0.refusal.file, contract: nil, running: 0, isolation: nil, worker: nil, standing: Standing(), signature: nil, digest: nil,
        sandbox: [], rate: nil, quota: nil, obstacleCode: $0.refusal.code.rawValue, obstacle: "\($0.refusal.observed). \($0.refusal.remedy)"
      )
    }
    return (registered + refused).sorted { $0.file < $1.file }
  }

  /// Throws when an identifier that is permitted by its full name has no handler: its work would wait for ever.
  func checkPermitted(_ configuration: HostConfiguration) throws(HostFailure) {
    let offered = Set(registered.flatMap(\.contracts).map(\.identifier))
    var problems: [String] = []
    var isTemporary = true
    for pattern in configuration.permittedIdentifiers ?? [] {
      guard let identifier = pattern.exact, !offered.contains(identifier) else { continue }
      if let refused = refused.first(where: { $0.identifier == identifier }) {
        problems.append("permitted identifier \(identifier): \(refused.refusal)")
        isTemporary = isTemporary && refused.isTemporary
      } else {
        problems.append(
          "permitted identifier \(identifier): no plugin registers it, so its requests would wait for ever: install its plugin, remove it from permitted_identifiers, or use --allow-missing"
        )
        isTemporary = false
      }
    }
    guard !problems.isEmpty else { return }
    throw HostFailure(isTemporary ? .temporary : .configuration, problems.joined(separator: "\n"))
  }
}

extension RegisteredPlugin {
  /// One of its handlers.
  fileprivate func overview(of contract: HandlerContract, _ handler: HandlerOverview?) -> PluginOverview {
    let worker: PluginWorker? = if case .process(let worker) = placement { worker } else { nil }
    let signature: String? = if case .signed(let key) = candidate.signature { "\(key.name) (\(key.key.id))" } else { nil }
    return PluginOverview(
      file: candidate.path, contract: contract, running: handler?.running ?? 0, isolation: placement.isolation, worker: worker?.processID,
      standing: handler?.standing ?? Standing(), signature: signature, digest: candidate.digestText, sandbox: worker?.unenforced ?? [],
      rate: handler?.rate, quota: handler?.quota, obstacleCode: handler?.suspension == nil ? nil : PluginRefusal.Code.suspended.rawValue,
      obstacle: handler?.suspension)
  }
}
