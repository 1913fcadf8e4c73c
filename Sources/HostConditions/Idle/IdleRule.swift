/// Decides `idle` from load and pressure.
struct IdleRule: Sendable, Hashable {
  /// Load average of one minute per processor.
  var load: Band
  /// Share of time, in percent, in which something waited.
  var pressure: Band

  init(_ settings: ConditionSettings) {
    load = Band(lost: settings.busyLoad, holds: settings.idleLoad, moreIsBetter: false)
    pressure = Band(lost: settings.busyPressure, holds: settings.idlePressure, moreIsBetter: false)
  }

  /// Whether the machine looks idle. A value is nil if the machine does not report it; then the others decide.
  func idle(loadPerProcessor: Double?, processorPressure: Double?, diskPressure: Double?) -> Reading {
    let leaning = Leaning.together([
      loadPerProcessor.map(load.leaning) ?? .unknown, processorPressure.map(pressure.leaning) ?? .unknown,
      diskPressure.map(pressure.leaning) ?? .unknown,
    ])
    guard leaning != .unknown else { return .unknown("neither load nor pressure can be read, which counts as idle") }
    var facts: [String] = []
    if let loadPerProcessor { facts.append("load \(Quantity.hundredths(loadPerProcessor)) per processor") }
    if let processorPressure { facts.append("pressure on processors \(Quantity.percent(processorPressure))") }
    if let diskPressure { facts.append("pressure on disks \(Quantity.percent(diskPressure))") }
    return Reading(leaning: leaning, observed: facts.joined(separator: ", "))
  }
}
