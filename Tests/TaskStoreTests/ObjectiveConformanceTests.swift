import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps since when a success is expected") struct ObjectiveConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  @Test(
    "it comes back as it went in, also after the store was opened anew; it is replaced, and removed with nil",
    arguments: StoreUnderTest.allCases)
  func roundTrip(_ kind: StoreUnderTest) throws {
    var store = try kind.open(in: directory.get())
    let (a, b) = (TaskIdentifier.sample("org.example.a"), TaskIdentifier.sample("org.example.b"))
    try store.commit { transaction in
      try transaction.setObjective(.ms(-5), of: a)
      try transaction.setObjective(.ms(7), of: b)
      try transaction.setObjective(.ms(8), of: b)
      try transaction.setObjective(nil, of: .sample("org.example.never"))
    }
    store = try kind.reopen(store, in: directory.get())
    #expect(try store.commit { try $0.objectives() } == [a: .ms(-5), b: .ms(8)])
    try store.commit { try $0.setObjective(nil, of: a) }
    #expect(try store.commit { try $0.objectives() } == [b: .ms(8)])
  }

  @Test("the last success of an identifier is that of all its schedules", arguments: StoreUnderTest.allCases)
  func lastSuccess(_ kind: StoreUnderTest) throws {
    let store = try kind.open(in: directory.get())
    let origin = store.origin
    try store.add(.sample(1, origin: origin, key: "k"), .sample(2, origin: origin))
    #expect(try store.commit { try $0.lastSuccess(of: .sample()) } == nil)
    try store.commit { transaction in
      for (request, run, outcome, ended) in [(1, 11, RunOutcome.succeeded, 50), (2, 12, .noop, 70), (2, 13, .failed, 90)]
        as [(Int64, Int64, RunOutcome, Int64)]
      {
        try transaction.append(
          RunRecord(
            id: RunID(sequence: run, origin: origin), request: RequestID(sequence: request, origin: origin), identifier: .sample(),
            attempt: 1,
            started: .ms(0), ended: .ms(ended), outcome: outcome))
      }
    }
    #expect(try store.commit { try $0.lastSuccess(of: .sample()) } == .ms(70))
    #expect(try store.commit { try $0.lastSuccess(of: .sample("org.example.other")) } == nil)
  }
}
