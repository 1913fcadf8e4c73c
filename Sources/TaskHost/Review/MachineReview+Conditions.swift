import Glibc
import HostConditions
import TaskModel
import TaskScheduler

// What schedules require of the machine.

extension MachineReview {
  /// Conditions of schedules that cannot hold here, do not hold now, or are not reported. An override decides before the machine does.
  func conditions() -> [Finding] {
    let requests = configuration.scheduledRequests().filter { !$0.value.gates.conditions.isEmpty }
    var names: [Conditions: [String]] = [:]
    for (name, request) in requests {
      for (_, condition) in Conditions.named where request.gates.conditions.contains(condition) {
        names[condition, default: []].append(name.description)
      }
    }
    var findings: [Finding] = []
    let overrides = ConditionOverrides(path: configuration.stateDirectory + "/condition-overrides") { _ in }.all
    for override in overrides where names.removeValue(forKey: override.condition) != nil && !isRunning {
      findings.append(Finding(.schedules, override.problem))
    }
    // The host makes the state directory, on a disk that is not known yet.
    if access(configuration.stateDirectory, F_OK) != 0 { names[.storageNotLow] = nil }
    let sources = sources ?? ConditionSources(storage: configuration.stateDirectory)
    let glances = ConditionGlance.look(at: Conditions(Array(names.keys)), configuration.observedConditions, sources)
    return findings
      + glances.compactMap { glance in
        Self.finding(glance, of: (names[glance.condition] ?? []).sorted().joined(separator: ", "))
      }
  }

  private static func finding(_ glance: ConditionGlance, of names: String) -> Finding? {
    let condition = glance.condition.names.joined()
    switch glance.prospect {
    case .holds: return nil
    case .never:
      return Finding(
        .schedules, .failure, of: names, "\(condition) cannot hold on this machine: \(glance.observed)",
        why: "what requires \(condition) waits for ever", remedy: remedy(glance.condition))
    case .lost where glance.condition == .network || glance.condition == .unmetered:
      return Finding(
        .schedules, .warning, of: names, "\(condition) does not hold: \(glance.observed)",
        why: "what requires \(condition) waits until it does", remedy: "connect the machine, or remove \(condition) from requires")
    // A machine on battery, a busy one and a full disk are what the condition is for; the disk is looked at by itself.
    case .lost: return nil
    case .unknown:
      return Finding(
        .schedules, .warning, of: names, "\(condition) is not known: \(glance.observed)",
        why: "it counts as held, so what requires \(condition) runs at any time", remedy: "remove \(condition) from requires")
    }
  }

  private static func remedy(_ condition: Conditions) -> String {
    switch condition {
    case .network: "give the machine a network interface, or remove network from requires"
    case .unmetered: "remove an interface from metered_interfaces, or unmetered from requires"
    case .storageNotLow: "lower storage_ok and storage_low in [conditions]: the disk is smaller than they ask for"
    default: "correct its thresholds in [conditions], or remove it from requires"
    }
  }
}
