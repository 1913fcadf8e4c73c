import Testing

/// Real events of the kernel, in a namespace of its own.
@Suite("Power events", .enabled(if: ProbeProcess.isPossible, "needs unprivileged namespaces, veth, unshare and ip"))
struct PowerEventTests {
  @Test("the kernel's event of a power supply has the supplies read at once, another device's has not") func event() async throws {
    let folder = try Folder()
    try folder.supply("AC", ["type": "Mains", "online": "1"])
    try folder.supply("BAT0", ["type": "Battery", "capacity": "80"])
    // The probe reads them by itself once an hour.
    let probe = try await ProbeProcess(["supplies=\(folder.path)"])
    try await probe.change(after: "interest power") { $0.contains("held=power ") }
    try folder.supply("AC", ["online": "0"])
    let readings = try await probe.counter("readings")
    #expect(try await probe.ask("uevent net") == "uevent 0")
    _ = try await probe.ask("look")
    #expect(try await probe.counter("readings") == readings)
    let lost = try await probe.change(after: "uevent power_supply") { $0.contains("held= ") }
    #expect(lost.contains("power{AC is offline}"))
  }
}
