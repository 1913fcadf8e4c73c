/// Reads load and pressure.
struct IdleProbe {
  private let sources: ConditionSources
  private let rule: IdleRule

  init(sources: ConditionSources, rule: IdleRule) {
    self.sources = sources
    self.rule = rule
  }

  /// The current load without the host's own.
  func read() -> Reading {
    rule.idle(
      loadPerProcessor: TextFile.read(sources.loadAverage).flatMap(Self.load).map { load in
        max(0, load - max(0, sources.ownLoad())) / Double(max(1, sources.processors))
      },
      processorPressure: TextFile.read(sources.pressure + "/cpu").flatMap(Self.pressure),
      diskPressure: TextFile.read(sources.pressure + "/io").flatMap(Self.pressure))
  }

  /// The average of one minute, the first number of the kernel's file.
  static func load(_ text: String) -> Double? {
    text.split(separator: " ").first.flatMap { Double($0) }.flatMap { $0.isFinite && $0 >= 0 ? $0 : nil }
  }

  /// The average of ten seconds of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`.
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
