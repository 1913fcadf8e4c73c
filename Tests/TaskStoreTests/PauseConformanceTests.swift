import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps pauses") struct PauseConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private static let whole = PauseOrder(
    filter: "tag:\"a b\" identifier:*", by: "änna (user 4294967295)", user: .max, reason: "why\u{1F600}", until: .ms(7))
  private static let bare = PauseOrder(by: "somebody")

  @Test(
    "pauses come back as they went in, also after the store was opened anew; a number is given once", arguments: StoreUnderTest.allCases)
  func roundTrip(_ kind: StoreUnderTest) throws {
    var store = try kind.open(in: directory.get())
    let (first, second) = try store.commit { (try $0.addPause(Self.whole, since: .ms(5)), try $0.addPause(Self.bare, since: .ms(-6))) }
    #expect((first.order, first.since, second.order, second.since) == (Self.whole, .ms(5), Self.bare, .ms(-6)))
    store = try kind.reopen(store, in: directory.get())
    #expect(try store.commit { try $0.pauses() } == [first, second])
    #expect(first.id < second.id)
    try store.commit { try $0.removePause(second.id) }
    try store.commit { try $0.removePause(second.id) }
    store = try kind.reopen(store, in: directory.get())
    let third = try store.commit { try $0.addPause(Self.bare, since: .ms(0)) }
    #expect(third.id > second.id)
    #expect(try store.commit { try $0.pauses() } == [first, third])
  }

  @Test("what is undone was never there", arguments: StoreUnderTest.allCases)
  func undone(_ kind: StoreUnderTest) throws {
    struct Undo: Error {}
    let store = try kind.open(in: directory.get())
    let kept = try store.commit { try $0.addPause(Self.bare, since: .ms(0)) }
    try store.commit { transaction in
      try? transaction.savepoint {
        _ = try transaction.addPause(Self.whole, since: .ms(0))
        try transaction.removePause(kept.id)
        throw Undo()
      }
    }
    #expect(try store.commit { try $0.pauses() } == [kept])
  }

  @Test("a request that is set aside waits in a lane of its own, also after the store was opened anew", arguments: StoreUnderTest.allCases)
  func setAside(_ kind: StoreUnderTest) throws {
    var store = try kind.open(in: directory.get())
    try store.add(.sample(1, origin: store.origin), .sample(2, origin: store.origin))
    var record = try store.known(1)
    record.setAside = PauseID(9)
    try store.commit { [record] in try $0.update(record) }
    store = try kind.reopen(store, in: directory.get())
    var gates = RunConstraints.none
    gates.pause = PauseID(9)
    #expect(try store.known(1).setAside == PauseID(9) && store.known(1).gates == gates)
    #expect(try store.due(by: .ms(1)) == [2])
    #expect(try store.due(.sample(), gates, by: .ms(1)) == [1])
    #expect(try Set(store.commit { try $0.lanesWithPending() }) == [Lane(.sample()), Lane(.sample(), gates)])
  }
}
