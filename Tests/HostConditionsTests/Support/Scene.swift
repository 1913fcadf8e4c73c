import TestSupport
import HostConditions
import TaskModel

/// A monitor of a machine made of files, with a clock that the test moves.
final class Scene: Sendable {
  let folder: Folder
  let clock = ManualClock()
  let monitor: ConditionMonitor
  /// The reports that it told of.
  let reports: AsyncStream<ConditionReport>

  init(_ settings: ConditionSettings = ConditionSettings(), ownLoad: @escaping @Sendable () -> Double = { 0 }) throws {
    folder = try Folder()
    try folder.write("0.10 0.20 0.30 1/100 4711\n", to: "loadavg")
    for file in ["cpu", "io"] { try folder.write(Scene.pressure(0), to: "pressure/\(file)") }
    try folder.supply("supplies/AC", ["type": "Mains", "online": "1"])
    try folder.supply("supplies/BAT0", ["type": "Battery", "present": "1", "capacity": "80", "status": "Charging"])
    var sources = ConditionSources(storage: folder.path)
    sources.loadAverage = "\(folder.path)/loadavg"
    sources.pressure = "\(folder.path)/pressure"
    sources.powerSupplies = "\(folder.path)/supplies"
    sources.systemBus = nil
    sources.processors = 2
    sources.ownLoad = ownLoad
    let (reports, changed) = AsyncStream<ConditionReport>.makeStream()
    self.reports = reports
    monitor = try ConditionMonitor(settings: settings, sources: sources, clock: clock) { changed.yield($0) }
  }

  deinit { monitor.stop() }

  static func pressure(_ percent: Double) -> String {
    "some avg10=\(percent) avg60=1.00 avg300=2.00 total=3\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n"
  }

  /// The next report that it tells of and of which `isWanted` is true.
  @discardableResult func report(_ isWanted: (ConditionReport) -> Bool) async throws -> ConditionReport {
    for await report in reports where isWanted(report) { return report }
    throw TestFailure("the monitor ended")
  }

  /// Moves the clock, and waits until the monitor has read what was due then.
  @discardableResult func pass(_ duration: Duration = .zero) async throws -> ConditionReport {
    clock.advance(duration)
    return try await settled()
  }

  /// What is known when the monitor has done all that is due now.
  func settled() async throws -> ConditionReport {
    let monitor = monitor
    _ = try await onThread { monitor.look(within: .seconds(30)) }
    return monitor.report
  }
}
