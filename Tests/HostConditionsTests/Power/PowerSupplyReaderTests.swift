import Testing

@testable import HostConditions

@Suite("Power supplies in the kernel's directory") struct PowerSupplyReaderTests {
  @Test("a laptop's: the plug, the battery, and not the mouse") func laptop() throws {
    let folder = try Folder()
    try folder.supply("AC", ["type": "Mains", "online": "0"])
    try folder.supply(
      "BAT0", ["type": "Battery", "present": "1", "capacity": "12", "status": "Discharging", "scope": "System", "energy_full": "50000"])
    try folder.supply("hidpp_battery_0", ["type": "Battery", "scope": "Device", "capacity": "3", "status": "Discharging"])
    #expect(
      try PowerSupplyReader.read(folder.path) == [
        PowerSupply(name: "AC", kind: .external, isOnline: false),
        PowerSupply(name: "BAT0", kind: .battery, capacity: 12, status: "Discharging", fullCharge: 50000),
      ])
  }

  @Test(
    "what a supply is, by its type",
    arguments: [
      ("Mains", PowerSupply.Kind.external), ("USB", .external), ("USB_PD_DRP", .external), ("Wireless", .external), ("Battery", .battery),
      ("UPS", .battery), ("Unknown", nil),
    ])
  func kinds(_ type: String, _ kind: PowerSupply.Kind?) throws {
    let folder = try Folder()
    try folder.supply("it", ["type": type])
    #expect(try PowerSupplyReader.read(folder.path).map(\.kind) == (kind.map { [$0] } ?? []))
  }

  @Test("an empty battery slot is no battery") func absent() throws {
    let folder = try Folder()
    try folder.supply("BAT1", ["type": "Battery", "present": "0"])
    #expect(try PowerSupplyReader.read(folder.path).isEmpty)
  }

  @Test("a plug with a voltage of its own choice is online") func programmable() throws {
    let folder = try Folder()
    try folder.supply("usb", ["type": "USB", "online": "2"])
    #expect(try PowerSupplyReader.read(folder.path).map(\.isOnline) == [true])
  }

  @Test("nonsense in a file is as if it were not there", arguments: ["", "many", "-1", "101", "nan", "1e99"])
  func nonsense(_ text: String) throws {
    let folder = try Folder()
    try folder.supply("BAT0", ["type": "Battery", "capacity": text])
    #expect(try PowerSupplyReader.read(folder.path) == [PowerSupply(name: "BAT0", kind: .battery)])
  }

  @Test("a machine without the directory has no supplies; one whose directory is none is told of") func noDirectory() throws {
    let folder = try Folder()
    #expect(try PowerSupplyReader.read("\(folder.path)/none").isEmpty)
    try folder.write("", to: "file")
    #expect(throws: PowerSupplyReader.Failure(reason: "\(folder.path)/file cannot be read: Not a directory")) {
      try PowerSupplyReader.read("\(folder.path)/file")
    }
  }

  @Test(
    "an event of the kernel is of a power supply by its subsystem alone",
    arguments: [
      ("change@/devices/x\0ACTION=change\0SUBSYSTEM=power_supply\0SEQNUM=1", true),
      ("change@/devices/power_supply/x\0SUBSYSTEM=net\0", false), ("SUBSYSTEM=power_supply", true), ("", false),
    ])
  func events(_ text: String, _ isOfPower: Bool) { #expect(PowerEvents.isOfPower(Array(text.utf8)) == isOfPower) }
}
