/// Decides `power` and `battery_not_low` from the machine's power supplies.
struct PowerRule: Sendable, Hashable {
  var charge: Band

  init(low: Double, okay: Double) { charge = Band(lost: low, holds: okay, moreIsBetter: true) }

  func power(_ supplies: [PowerSupply]) -> Reading {
    let batteries = supplies.filter { $0.kind == .battery }
    let external = supplies.filter { $0.kind == .external }
    if let online = external.first(where: { $0.isOnline == true }) { return Reading(leaning: .holds, observed: "\(online.name) is online") }
    guard !batteries.isEmpty else { return Reading(leaning: .holds, observed: "there is no battery, so the power is external") }
    // With a battery but no report about the plug, the battery decides.
    if let draining = batteries.first(where: { $0.status == "Discharging" }) {
      return Reading(leaning: .lost, observed: "\(draining.name) is discharging")
    }
    if let off = external.first(where: { $0.isOnline == false }) { return Reading(leaning: .lost, observed: "\(off.name) is offline") }
    if let fed = batteries.first(where: { ["Charging", "Full", "Not charging"].contains($0.status) }) {
      return Reading(leaning: .holds, observed: "\(fed.name) is \(fed.status == "Charging" ? "charging" : "not discharging")")
    }
    return .unknown("\(batteries[0].name) does not say whether it is charged, which counts as external power")
  }

  func battery(_ supplies: [PowerSupply]) -> Reading {
    let batteries = supplies.filter { $0.kind == .battery }
    guard let first = batteries.first else { return Reading(leaning: .holds, observed: "there is no battery that could be low") }
    if let percent = together(batteries) {
      return Reading(leaning: charge.leaning(percent), observed: "battery at \(Quantity.percent(percent))")
    }
    switch batteries.compactMap(\.capacityLevel).first {
    case "Critical", "Low": return Reading(leaning: .lost, observed: "\(first.name) says that it is low")
    case "Normal", "High", "Full": return Reading(leaning: .holds, observed: "\(first.name) says that it is not low")
    default: return .unknown("\(first.name) does not say how full it is, which counts as not low")
    }
  }

  /// The total charge of all batteries that report one, weighted by capacity if all report that too.
  private func together(_ batteries: [PowerSupply]) -> Double? {
    let known = batteries.filter { $0.capacity != nil }
    guard !known.isEmpty else { return nil }
    let isWeighed = known.allSatisfy { ($0.fullCharge ?? 0) > 0 }
    var sum = 0.0
    var weights = 0.0
    for battery in known {
      let weight = isWeighed ? battery.fullCharge ?? 1 : 1
      sum += (battery.capacity ?? 0) * weight
      weights += weight
    }
    return sum / weights
  }
}
