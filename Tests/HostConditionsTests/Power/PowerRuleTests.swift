import Testing

@testable import HostConditions

@Suite("Power and battery") struct PowerRuleTests {
  private let rule = PowerRule(low: 15, okay: 20)

  private static func mains(_ online: Bool?) -> PowerSupply { PowerSupply(name: "AC", kind: .external, isOnline: online) }
  private static func battery(
    _ capacity: Double?, _ status: String? = nil, level: String? = nil, full: Double? = nil, name: String = "BAT0"
  ) -> PowerSupply {
    PowerSupply(name: name, kind: .battery, capacity: capacity, capacityLevel: level, status: status, fullCharge: full)
  }

  @Test(
    "external power",
    arguments: [
      ([], Leaning.holds, "there is no battery, so the power is external"),
      ([mains(true), battery(50, "Charging")], .holds, "AC is online"),
      ([mains(false), battery(50, "Discharging")], .lost, "BAT0 is discharging"),
      ([mains(false), battery(50, "Unknown")], .lost, "AC is offline"),
      ([mains(false)], .holds, "there is no battery, so the power is external"),
      ([battery(50, "Charging")], .holds, "BAT0 is charging"),
      ([battery(100, "Full")], .holds, "BAT0 is not discharging"),
      ([battery(50, "Discharging")], .lost, "BAT0 is discharging"),
      ([battery(50, "Unknown")], .unknown, "BAT0 does not say whether it is charged, which counts as external power"),
      ([mains(false), PowerSupply(name: "usb", kind: .external, isOnline: true), battery(5, "Discharging")], .holds, "usb is online"),
    ] as [([PowerSupply], Leaning, String)])
  func power(_ supplies: [PowerSupply], _ leaning: Leaning, _ observed: String) {
    #expect(rule.power(supplies) == Reading(leaning: leaning, observed: observed))
  }

  @Test(
    "the battery's charge",
    arguments: [
      ([], Leaning.holds, "there is no battery that could be low"),
      ([mains(true)], .holds, "there is no battery that could be low"),
      ([battery(12)], .lost, "battery at 12 %"),
      ([battery(15)], .neither, "battery at 15 %"),
      ([battery(20)], .holds, "battery at 20 %"),
      ([mains(true), battery(12, "Charging")], .lost, "battery at 12 %"),
      ([battery(0), battery(100, name: "BAT1")], .holds, "battery at 50 %"),
      ([battery(4, full: 90), battery(100, full: 10, name: "BAT1")], .lost, "battery at 13 %"),
      ([battery(nil, level: "Low")], .lost, "BAT0 says that it is low"),
      ([battery(nil, level: "Normal")], .holds, "BAT0 says that it is not low"),
      ([battery(nil, level: "Unknown")], .unknown, "BAT0 does not say how full it is, which counts as not low"),
    ] as [([PowerSupply], Leaning, String)])
  func charge(_ supplies: [PowerSupply], _ leaning: Leaning, _ observed: String) {
    #expect(rule.battery(supplies) == Reading(leaning: leaning, observed: observed))
  }
}
