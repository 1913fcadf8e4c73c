/// What load and pressure mean for `idle`.
struct IdleRule: Sendable, Hashable {
  /// Load average of one minute per processor.
  var load: Band
  /// Share of time, in percent, in which something waited.
  var pressure: Band

  init(_ settings: ConditionSettings) {
    load = Band(lost: settings.busyLoad, holds: settings.idleLoad, moreIsBetter: false)
    pressure = Band(lost: settings.busyPressure, holds: settings.idlePressure, moreIsBetter: false)
  }

  /// Whether the machine looks idle. Each is nil where the machine does not tell it; the others decide then.
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
