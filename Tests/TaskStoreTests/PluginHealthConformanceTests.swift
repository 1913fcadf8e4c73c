import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps plugins' standing") struct PluginHealthConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  private static let quarantined: PluginHealth = {
    var health = PluginHealth()
    health.failures = 5
    health.hostCrashes = 2
    health.quarantinedSince = .ms(7)
    health.lastTrouble = "signal 11\u{0}\u{1F600}"
    return health
  }()

  private static let held: PluginHealth = {
    var health = PluginHealth()
    health.failures = 1
    health.heldUntil = .ms(-5)
    return health
  }()

  @Test("a standing comes back as it went in, also after the store was opened anew", arguments: StoreUnderTest.allCases)
  func roundTrip(_ kind: StoreUnderTest) throws {
    let expected = [TaskIdentifier.sample("org.example.a"): Self.quarantined, .sample("org.example.b"): Self.held]
    var store = try open(kind)
    #expect(try store.commit { try $0.pluginHealth() } == [:])
    try store.commit { transaction in
      for (identifier, health) in expected { try transaction.setHealth(health, of: identifier) }
    }
    store = try kind.reopen(store, in: directory.get())
    #expect(try store.commit { try $0.pluginHealth() } == expected)
  }

  @Test("it is replaced, and removed with nil; nothing is there to remove of one that is unknown", arguments: StoreUnderTest.allCases)
  func changes(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.commit { transaction in
      try transaction.setHealth(Self.held, of: .sample())
      try transaction.setHealth(Self.quarantined, of: .sample())
    }
    #expect(try store.commit { try $0.pluginHealth() } == [.sample(): Self.quarantined])
    try store.commit { transaction in
      try transaction.setHealth(nil, of: .sample())
      try transaction.setHealth(nil, of: .sample("org.example.unknown"))
    }
    #expect(try store.commit { try $0.pluginHealth() } == [:])
  }

  @Test("it is undone with its transaction, and with its savepoint", arguments: StoreUnderTest.allCases)
  func undone(_ kind: StoreUnderTest) throws {
    struct Change: Error {}
    let store = try open(kind)
    try store.commit { try $0.setHealth(Self.held, of: .sample()) }
    #expect(throws: StoreError.self) {
      try store.commit { transaction in
        try transaction.setHealth(Self.quarantined, of: .sample())
        try transaction.setHealth(Self.quarantined, of: .sample("org.example.new"))
        throw Change()
      }
    }
    _ = try store.commit { transaction throws in
      #expect(throws: Change.self) {
        try transaction.savepoint {
          try transaction.setHealth(nil, of: .sample())
          throw Change()
        }
      }
    }
    #expect(try store.commit { try $0.pluginHealth() } == [.sample(): Self.held])
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
