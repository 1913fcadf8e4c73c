package import TaskModel

/// What can become of a condition on a machine, by the readings and rules that the monitor decides with.
package struct ConditionGlance: Sendable, Hashable {
  /// What can become of it.
  package enum Prospect: Sendable, Hashable {
    /// It holds, or is between its thresholds.
    case holds
    /// It does not hold now.
    case lost
    /// It does not hold, even if the machine were in its best state: every interface up, full batteries, an empty disk, no load.
    case never
    /// The machine does not report it, so that it counts as held.
    case unknown
  }

  /// The condition.
  package let condition: Conditions
  /// What can become of it.
  package let prospect: Prospect
  /// What was seen, for people.
  package let observed: String

  init(_ condition: Conditions, now: Reading, best: [Reading]) {
    self.condition = condition
    switch now.leaning {
    case .unknown: prospect = .unknown
    case .holds, .neither: prospect = .holds
    case .lost: prospect = best.allSatisfy { $0.leaning == .lost } ? .never : .lost
    }
    observed = now.observed
  }

  /// Looks at the machine once. Blocks on the disk, and for `unmetered` on the system bus.
  package static func look(at wanted: Conditions, _ settings: ConditionSettings, _ sources: ConditionSources) -> [ConditionGlance] {
    Conditions.named.map(\.condition).filter { wanted.contains($0) }.map { condition in
      switch condition {
      case .network, .unmetered: network(condition, settings, sources)
      case .power, .batteryNotLow: power(condition, settings, sources)
      case .idle:
        ConditionGlance(
          .idle, now: IdleProbe(sources: sources, rule: IdleRule(settings)).read(),
          best: [IdleRule(settings).idle(loadPerProcessor: 0, processorPressure: 0, diskPressure: 0)])
      default:
        ConditionGlance(
          condition, now: StorageProbe(path: sources.storage, rule: StorageRule(settings)).read(),
          best: [StorageProbe(path: sources.storage, rule: StorageRule(settings)).readAsEmpty()])
      }
    }
  }

  private static func network(_ condition: Conditions, _ settings: ConditionSettings, _ sources: ConditionSources) -> ConditionGlance {
    let rule = NetworkRule(meteredInterfaces: settings.meteredInterfaces)
    do throws(RouteDump.Failure) { return network(condition, try RouteDump.make(), rule, bus: sources.systemBus) } catch {
      return ConditionGlance(condition, now: .unknown("the network is not known: \(error.reason)"), best: [])
    }
  }

  static func network(_ condition: Conditions, _ table: NetworkTable, _ rule: NetworkRule, bus: String?) -> ConditionGlance {
    guard condition == .unmetered else { return ConditionGlance(condition, now: rule.network(table), best: table.best.map(rule.network)) }
    let manager = NetworkManagerBus(path: bus)
    manager.ask()
    return ConditionGlance(
      condition, now: rule.unmetered(table, manager: manager.metered), best: table.best.map { rule.unmetered($0, manager: nil) })
  }

  private static func power(_ condition: Conditions, _ settings: ConditionSettings, _ sources: ConditionSources) -> ConditionGlance {
    let rule = PowerRule(low: settings.batteryLow, okay: settings.batteryOK)
    let read = condition == .power ? rule.power : rule.battery
    do throws(PowerSupplyReader.Failure) {
      let supplies = try PowerSupplyReader.read(sources.powerSupplies)
      return ConditionGlance(condition, now: read(supplies), best: [read(supplies.map(\.best))])
    } catch { return ConditionGlance(condition, now: .unknown(error.reason), best: []) }
  }
}

extension NetworkTable {
  /// The table for each interface if it alone were connected.
  fileprivate var best: [NetworkTable] {
    links.values.filter { !$0.isLoopback }.map { link in
      var link = link
      link.isUp = true
      return NetworkTable(links: [link], routes: [DefaultRoute(version: 4, table: RouteProtocol.mainTable, metric: 0, links: [link.index])])
    }
  }
}

extension PowerSupply {
  /// The supply if it were plugged in, and full.
  fileprivate var best: PowerSupply {
    var best = self
    if kind == .external { best.isOnline = true }
    best.capacity = capacity.map { _ in 100 }
    best.capacityLevel = capacityLevel.map { _ in "Full" }
    best.status = status.map { _ in "Charging" }
    return best
  }
}
