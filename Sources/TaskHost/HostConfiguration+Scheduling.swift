import PluginTrust
import TaskModel
import TaskScheduler
import WorkerSandbox

extension HostConfiguration {
  /// The rules for scheduling.
  func schedulingPolicy() -> SchedulingPolicy {
    var policy = SchedulingPolicy(
      maxConcurrentRuns: maxConcurrentRuns, maxPending: maxPending, minimumInterval: minimumInterval,
      retry: RetryPolicy(
        attempts: retry.attempts, backoff: retry.backoff == .linear ? .linear : .exponential, initial: retry.initial, maximum: retry.maximum
      ),
      permitted: permittedIdentifiers,
      historyAge: history.keep, historyCount: history.runs)
    // Longer than nearly every commit takes, and too short for a person to see.
    policy.claimAhead = .milliseconds(5)
    return policy
  }

  /// Which identifiers each plugin may submit to besides its own.
  func maySubmit() -> [TaskIdentifier: [IdentifierPattern]] {
    var rules: [TaskIdentifier: [IdentifierPattern]] = [:]
    for (name, plugin) in plugins {
      guard let identifier = try? TaskIdentifier(name) else { continue }
      rules[identifier] = plugin.maySubmit
    }
    return rules
  }

  /// The requests that `schedule` lines stand for.
  func repetitions() throws(HostFailure) -> [TaskIdentifier: RepeatRule] {
    var rules: [TaskIdentifier: RepeatRule] = [:]
    for (name, plugin) in plugins {
      guard let identifier = try? TaskIdentifier(name), let schedule = plugin.schedule else { continue }
      switch schedule {
      case .every(let interval): rules[identifier] = RepeatRule(every: interval)
      case .cron:
        throw HostFailure(.configuration, "plugin \(name): schedule: cron expressions are not offered by this version: use \"every 6h\"")
      }
    }
    return rules
  }

  /// What the operator demands and this version cannot give is no warning: a host that ran anyway would be less safe than it was told to be.
  func checkDemands() throws(HostFailure) {
    var demands: [String] = []
    if requireSandbox {
      demands += WorkerSandbox.support(landlockLimit: WorkerSpecs.landlockLimit).missing.map { "require_sandbox: \($0)" }
      demands += plugins.filter { $0.value.isolation == .thread }.keys.sorted().map {
        "require_sandbox: plugin \($0) is configured for thread isolation, which has no sandbox: use isolation = \"process\""
      }
    }
    for (name, plugin) in plugins.sorted(by: { $0.key < $1.key }) {
      let confinement = Confinement(plugin: "", network: Confinement.Network(plugin.entitlements.network))
      demands += WorkerSandbox.objections(to: confinement, landlockLimit: WorkerSpecs.landlockLimit).map { "plugin \(name): \($0)" }
    }
    if control.listen != nil { demands.append("control.listen: TCP comes with a later version; the Unix socket is there") }
    guard !demands.isEmpty else { return }
    throw HostFailure(.configuration, demands.joined(separator: "\n"))
  }

  /// Whose signatures count; reads the key files.
  func signaturePolicy() throws(HostFailure) -> SignaturePolicy {
    var keys: [PluginTrust.TrustedKey] = []
    var problems: [String] = []
    for entry in trustedKeys {
      do throws(SigningFileError) { keys.append(try PluginTrust.TrustedKey(reading: entry.file, identifiers: entry.identifiers)) } catch {
        problems.append("trusted_keys: \(error)")
      }
    }
    guard problems.isEmpty else { throw HostFailure(.configuration, problems.joined(separator: "\n")) }
    return SignaturePolicy(isRequired: requireSignatures, keys: keys)
  }

  /// What is configured and not done by this version, for the operator.
  func warnings(about contracts: [HandlerContract]) -> [String] {
    var warnings: [String] = []
    let identifiers = Set(contracts.map(\.identifier.rawValue))
    let conditional = identifiers.filter { !plugin($0).requires.isEmpty }.sorted()
    if !conditional.isEmpty {
      warnings.append("conditions come with a later version: `requires` is not observed for \(conditional.joined(separator: ", "))")
    }
    for identifier in plugins.keys.filter({ !identifiers.contains($0) }).sorted() {
      warnings.append("the configuration has a section for \(identifier), which no plugin registered")
    }
    return warnings
  }
}
