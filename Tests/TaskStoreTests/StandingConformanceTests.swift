import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps plugins' standing") struct StandingConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  private static let quarantined: Standing = {
    var standing = Standing()
    standing.strikes = 5
    standing.hostCrashes = 2
    standing.quarantinedSince = .ms(7)
    standing.lastTrouble = "signal 11\u{0}\u{1F600}"
    return standing
  }()

  private static let held: Standing = {
    var standing = Standing()
    standing.strikes = 1
    standing.heldUntil = .ms(-5)
    return standing
  }()

  @Test("a standing comes back as it went in, also after the store was opened anew", arguments: StoreUnderTest.allCases)
  func roundTrip(_ kind: StoreUnderTest) throws {
    let expected = [TaskIdentifier.sample("org.example.a"): Self.quarantined, .sample("org.example.b"): Self.held]
    var store = try open(kind)
    #expect(try store.commit { try $0.standings() } == [:])
    try store.commit { transaction in
      for (identifier, standing) in expected { try transaction.setStanding(standing, of: identifier) }
    }
    store = try kind.reopen(store, in: directory.get())
    #expect(try store.commit { try $0.standings() } == expected)
  }

  @Test("it is replaced, and removed with nil; nothing is there to remove of one that is unknown", arguments: StoreUnderTest.allCases)
  func changes(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.commit { transaction in
      try transaction.setStanding(Self.held, of: .sample())
      try transaction.setStanding(Self.quarantined, of: .sample())
    }
    #expect(try store.commit { try $0.standings() } == [.sample(): Self.quarantined])
    try store.commit { transaction in
      try transaction.setStanding(nil, of: .sample())
      try transaction.setStanding(nil, of: .sample("org.example.unknown"))
    }
    #expect(try store.commit { try $0.standings() } == [:])
  }

  @Test("it is undone with its transaction, and with its savepoint", arguments: StoreUnderTest.allCases)
  func undone(_ kind: StoreUnderTest) throws {
    struct Change: Error {}
    let store = try open(kind)
    try store.commit { try $0.setStanding(Self.held, of: .sample()) }
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        try transaction.setStanding(Self.quarantined, of: .sample())
        try transaction.setStanding(Self.quarantined, of: .sample("org.example.new"))
        throw Change()
      }
    }
    _ = try store.commit { transaction throws in
      #expect(throws: Change.self) {
        try transaction.savepoint {
          try transaction.setStanding(nil, of: .sample())
          throw Change()
        }
      }
    }
    #expect(try store.commit { try $0.standings() } == [.sample(): Self.held])
  }

  @Test("how a run was stopped, its memory and its trouble are kept", arguments: StoreUnderTest.allCases)
  func runs(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin, state: .failed))
    var records: [RunRecord] = []
    for (index, stage) in ([nil] + StopStage.allCases.map { $0 }).enumerated() {
      var record = RunRecord(
        id: store.runID(Int64(10 + index)), request: store.id(1), identifier: .sample(), attempt: 1, started: .ms(1), ended: .ms(2),
        outcome: .crashed)
      record.report.stopStage = stage
      record.report.peakMemory = stage == nil ? nil : 1 << (33 + index)
      record.report.trouble = stage == nil ? nil : "signal 11 (SIGSEGV)\n#0 main"
      record.report.cpuTime = .milliseconds(3)
      records.append(record)
    }
    try store.commit { transaction in for record in records { try transaction.append(record) } }
    for record in records { #expect(try store.run(record.id) == record) }
    let listed = try store.runs(RunQuery())
    #expect(listed.map(\.report.stopStage) == records.reversed().map(\.report.stopStage))
    #expect(listed.map(\.report.peakMemory) == records.reversed().map(\.report.peakMemory))
    #expect(listed.allSatisfy { $0.report.trouble == nil })
  }
}
