struct IdleProbe {
  let sources: ConditionSources
  let rule: IdleRule

  func read() -> Reading {
    rule.idle(
      loadPerProcessor: TextFile.read(sources.loadAverage).flatMap(Self.load).map { load in
        max(0, load - max(0, sources.ownLoad())) / Double(max(1, sources.processors))
      },
      processorPressure: TextFile.read(sources.pressure + "/cpu").flatMap(Self.pressure),
      diskPressure: TextFile.read(sources.pressure + "/io").flatMap(Self.pressure))
  }

  /// The one-minute average, the first number of the kernel's file.
  static func load(_ text: String) -> Double? {
    text.split(separator: " ").first.flatMap { Double($0) }.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
  }

  /// The ten-second average in the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`.
  static func pressure(_ text: String) -> Double? {
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ")
      guard words.first == "some" else { continue }
      for word in words where word.hasPrefix("avg10=") {
        return Double(word.dropFirst("avg10=".count)).flatMap { (0...100).contains($0) ? $0 : nil }
      }
    }
    return nil
  }
}

/// Decides `idle` from load and pressure.
struct IdleRule: Sendable, Hashable {
  /// One-minute load average per processor.
  var load: Band
  /// Share of time, in percent, in which tasks waited.
  var pressure: Band

  init(_ settings: ConditionSettings) {
    load = Band(lost: settings.busyLoad, holds: settings.idleLoad, moreIsBetter: false)
    pressure = Band(lost: settings.busyPressure, holds: settings.idlePressure, moreIsBetter: false)
  }

  /// A value is nil if the machine does not report it; then the others decide.
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
