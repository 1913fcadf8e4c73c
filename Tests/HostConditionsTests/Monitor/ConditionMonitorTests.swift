import TestSupport
import HostConditions
import TaskModel
import Testing

@Suite("Condition monitor", .timeLimit(.minutes(10))) struct ConditionMonitorTests {
  @Test("without interest it does not wake, whatever changes") func asleep() async throws {
    let scene = try Scene()
    _ = try await scene.settled()
    let before = scene.monitor.counters
    try scene.folder.supply("supplies/AC", ["online": "0"])
    try scene.folder.write("9.00 0 0 1/1 1", to: "loadavg")
    scene.clock.advance(.seconds(86_400))
    scene.monitor.setInterest([])
    #expect(scene.monitor.counters == before)
    #expect(scene.monitor.report.held == [])
  }

  @Test("what becomes of interest is read at once, and told of") func interest() async throws {
    let scene = try Scene()
    scene.monitor.setInterest([.power, .batteryNotLow, .storageNotLow])
    #expect(scene.monitor.report[.idle]?.isWatched == false)
    let report = try await scene.report { $0.held.isSuperset(of: [.power, .batteryNotLow]) }
    #expect(report[.power]?.observed == "AC is online")
    #expect(report[.batteryNotLow]?.observed == "battery at 80 %")
    #expect(scene.monitor.report.held.isSuperset(of: [.power, .batteryNotLow]))
  }

  @Test("power supplies are read again each thirty seconds, and no sooner") func power() async throws {
    let scene = try Scene()
    scene.monitor.setInterest([.power, .batteryNotLow])
    try await scene.report { $0.held.contains(.power) }
    try scene.folder.supply("supplies/AC", ["online": "0"])
    try scene.folder.supply("supplies/BAT0", ["capacity": "14", "status": "Discharging"])
    #expect(try await scene.pass(.seconds(29)).held == [.power, .batteryNotLow])
    let seen = try await scene.pass(.seconds(1))
    #expect(seen.held == .power)
    #expect(seen[.batteryNotLow]?.observed == "battery at 14 %")
    #expect(seen[.power]?.settlesAt == scene.clock.wallTime + .seconds(1))
    #expect(try await scene.pass(.seconds(1)).held == [])
    // Charged to 19: still low. To 20: fine.
    try scene.folder.supply("supplies/AC", ["online": "1"])
    try scene.folder.supply("supplies/BAT0", ["capacity": "19", "status": "Charging"])
    #expect(try await scene.pass(.seconds(30)).held == [])
    #expect(try await scene.pass(.seconds(5)).held == .power)
    try scene.folder.supply("supplies/BAT0", ["capacity": "20"])
    #expect(try await scene.pass(.seconds(30)).held == [.power, .batteryNotLow])
  }

  @Test("a machine without power supplies has external power and no low battery") func desktop() async throws {
    let scene = try Scene()
    try scene.folder.remove("supplies")
    scene.monitor.setInterest([.power, .batteryNotLow])
    try await scene.report { $0.held == [.power, .batteryNotLow] }
  }

  @Test("idle has to last a minute, and ends when the machine is busy for five seconds") func idle() async throws {
    let scene = try Scene()
    scene.monitor.setInterest(.idle)
    let first = try await scene.report { $0[.idle]?.settlesAt != nil }
    #expect(first[.idle]?.settlesAt == scene.clock.wallTime + .seconds(60))
    #expect(first.held == [])
    for _ in 0..<3 { #expect(try await scene.pass(.seconds(15)).held == []) }
    #expect(try await scene.pass(.seconds(15)).held == .idle)
    try scene.folder.write(Scene.pressure(30), to: "pressure/io")
    #expect(try await scene.pass(.seconds(15)).held == .idle)
    // Not busy any more when it would be lost: it is not.
    try scene.folder.write(Scene.pressure(10), to: "pressure/io")
    #expect(try await scene.pass(.seconds(5)).held == .idle)
    try scene.folder.write(Scene.pressure(30), to: "pressure/io")
    #expect(try await scene.pass(.seconds(15)).held == .idle)
    let lost = try await scene.pass(.seconds(5))
    #expect(lost.held == [])
    #expect(lost[.idle]?.observed.contains("pressure on disks 30 %") == true)
  }

  @Test("a machine that is busy in between has to be idle for a minute anew") func interrupted() async throws {
    let scene = try Scene()
    scene.monitor.setInterest(.idle)
    try await scene.report { $0[.idle]?.settlesAt != nil }
    try await scene.pass(.seconds(45))
    try scene.folder.write("4.00 0 0 1/1 1", to: "loadavg")
    try await scene.pass(.seconds(14))
    #expect(try await scene.pass(.seconds(1)).held == [])
    try scene.folder.write("0.10 0 0 1/1 1", to: "loadavg")
    #expect(try await scene.pass(.seconds(15))[.idle]?.settlesAt == scene.clock.wallTime + .seconds(60))
  }

  @Test("while something is of interest it wakes as often as that is read, not more") func wakeUps() async throws {
    let scene = try Scene()
    scene.monitor.setInterest(.storageNotLow)
    try await scene.report { $0[.storageNotLow]?.observed != "not read yet" }
    let readings = scene.monitor.counters.readings
    for _ in 0..<10 { try await scene.pass(.seconds(60)) }
    #expect(scene.monitor.counters.readings == readings + 10)
    try await scene.pass(.seconds(59))
    #expect(scene.monitor.counters.readings == readings + 10)
  }

  @Test("an override is told of, wins over what is seen, and ends when it is cleared") func override() async throws {
    let scene = try Scene()
    scene.monitor.setInterest(.power)
    try await scene.report { $0.held == .power }
    scene.monitor.override(.power, holds: false)
    #expect(scene.monitor.report.held == [])
    let report = try await scene.report { $0[.power]?.isOverridden == true }
    #expect(report[.power]?.observed == "overridden to not hold; AC is online")
    #expect(try await scene.pass(.seconds(300)).held == [])
    scene.monitor.clearOverride(.all)
    try await scene.report { $0.held == .power }
  }

  @Test("an override needs no interest") func overrideAlone() async throws {
    let scene = try Scene()
    scene.monitor.override([.idle, .network], holds: true)
    try await scene.report { $0.held == [.idle, .network] }
    #expect(scene.monitor.report.held == [.idle, .network])
  }

  @Test("a look shows everything as it is and begins no interest") func look() async throws {
    let scene = try Scene()
    let monitor = scene.monitor
    let look = try await onThread { monitor.look(within: .seconds(30)) }
    #expect(look.held.isSuperset(of: [.power, .batteryNotLow]))
    #expect(look[.idle]?.holds == false)
    #expect(look[.idle]?.observed.hasPrefix("load 0.05 per processor") == true)
    #expect(look.states.allSatisfy { !$0.isWatched })
    #expect(monitor.report.held == [])
    let wakeUps = monitor.counters.wakeUps
    scene.clock.advance(.seconds(3600))
    #expect(monitor.counters.wakeUps == wakeUps)
  }

  @Test("only what was changed is told of, not each sentence") func sentences() async throws {
    let scene = try Scene()
    scene.monitor.setInterest(.batteryNotLow)
    try await scene.report { $0.held == .batteryNotLow }
    try scene.folder.supply("supplies/BAT0", ["capacity": "70"])
    #expect(try await scene.pass(.seconds(30))[.batteryNotLow]?.observed == "battery at 70 %")
    try scene.folder.supply("supplies/BAT0", ["capacity": "10"])
    try await scene.pass(.seconds(30))
    let told = try await scene.report { _ in true }
    #expect(told[.batteryNotLow]?.observed == "battery at 10 %")
  }

  @Test("from within `changed` it can be asked and told things") func reentrant() async throws {
    let folder = try Folder()
    let (reports, changed) = AsyncStream<ConditionReport>.makeStream()
    let box = MonitorBox()
    var sources = ConditionSources(storage: folder.path)
    sources.systemBus = nil
    let monitor = try ConditionMonitor(sources: sources, clock: ManualClock()) { report in
      guard let monitor = box.monitor else { return }
      monitor.setInterest(.power)
      monitor.override(.idle, holds: true)
      changed.yield(monitor.look())
      _ = monitor.report.held
    }
    box.monitor = monitor
    monitor.override(.network, holds: true)
    for await report in reports where report.held.contains(.idle) { break }
    box.monitor = nil
    monitor.stop()
  }

  @Test("when it is stopped nothing is told any more, and whoever looks gets what is known") func stop() async throws {
    let scene = try Scene()
    scene.monitor.setInterest(.power)
    try await scene.report { $0.held == .power }
    let monitor = scene.monitor
    try await onThread {
      monitor.stop()
      monitor.stop()
    }
    monitor.override(.idle, holds: true)
    #expect(monitor.look(within: .seconds(30)).held == [.power, .idle])
  }
}
