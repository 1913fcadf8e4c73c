import Testing

@testable import HostConditions

@Suite("Idle") struct IdleTests {
  private let rule = IdleRule(ConditionSettings())

  @Test(
    "load and pressure under all thresholds are idle, one above its own is not",
    arguments: [
      (0.1, 0.0, 0.0, Leaning.holds), (0.3, 5.0, 5.0, .holds), (0.31, 0.0, 0.0, .neither), (0.71, 0.0, 0.0, .lost),
      (0.1, 6.0, 0.0, .neither), (0.1, 20.1, 0.0, .lost), (0.1, 0.0, 50.0, .lost), (nil, 0.0, 0.0, .holds), (0.1, nil, nil, .holds),
      (0.9, nil, nil, .lost), (nil, nil, nil, .unknown),
    ] as [(Double?, Double?, Double?, Leaning)])
  func leaning(_ load: Double?, _ processors: Double?, _ disks: Double?, _ leaning: Leaning) {
    #expect(rule.idle(loadPerProcessor: load, processorPressure: processors, diskPressure: disks).leaning == leaning)
  }

  @Test("what was seen names all of it") func observed() {
    let reading = rule.idle(loadPerProcessor: 0.314, processorPressure: 1.26, diskPressure: 42.9)
    #expect(reading.observed == "load 0.31 per processor, pressure on processors 1.2 %, pressure on disks 42 %")
  }

  @Test(
    "the load of one minute is the first number of the file",
    arguments: [("0.10 0.20 0.30 1/100 4711", 0.1), ("12 1 1 1/1 1", 12), ("", nil), ("x 1", nil), ("-1 0 0", nil), ("inf", nil)])
  func load(_ text: String, _ load: Double?) { #expect(IdleProbe.load(text) == load) }

  @Test(
    "the pressure of ten seconds is in the line of what had to wait in part",
    arguments: [
      ("some avg10=1.50 avg60=0.00 avg300=0.00 total=1\nfull avg10=9.00 avg60=0.00 avg300=0.00 total=0", 1.5),
      ("full avg10=9.00\nsome avg10=2.00", 2), ("some avg60=1.00", nil), ("some avg10=", nil), ("some avg10=101", nil), ("", nil),
    ])
  func pressure(_ text: String, _ pressure: Double?) { #expect(IdleProbe.pressure(text) == pressure) }

  @Test("the load is shared over the processors, without what the host itself does") func shares() throws {
    let folder = try Folder()
    try folder.write("3.00 0 0 1/1 1\n", to: "loadavg")
    var sources = ConditionSources(storage: "/")
    sources.loadAverage = "\(folder.path)/loadavg"
    sources.pressure = "\(folder.path)/none"
    sources.processors = 4
    #expect(IdleProbe(sources: sources, rule: rule).read().observed == "load 0.75 per processor")
    sources.ownLoad = { 2 }
    #expect(IdleProbe(sources: sources, rule: rule).read() == Reading(leaning: .holds, observed: "load 0.25 per processor"))
    sources.ownLoad = { 9 }
    #expect(IdleProbe(sources: sources, rule: rule).read().observed == "load 0 per processor")
  }

  @Test("this machine tells its load") func machine() {
    #expect(IdleProbe(sources: ConditionSources(storage: "/"), rule: rule).read().leaning != .unknown)
  }
}
