import StoreTestSupport
import TaskModel
import Testing

@Suite("A store keeps what plugins keep") struct StateConformanceTests {
  private let directory = Result { try TemporaryDirectory() }

  private func open(_ kind: StoreUnderTest) throws -> any RequestStore { try kind.open(in: try directory.get()) }

  @Test("values are written, overwritten, deleted, and are each identifier's own", arguments: StoreUnderTest.allCases)
  func values(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let other = TaskIdentifier.sample("org.example.other")
    try store.commit { try $0.setState("k", to: [1, 0, 2], of: .sample()) }
    try store.commit { try $0.setState("k", to: [9], of: other) }
    try store.commit { try $0.setState("empty", to: [], of: .sample()) }
    #expect(try store.stateValue("k", of: .sample()) == [1, 0, 2])
    #expect(try store.stateValue("empty", of: .sample()) == [])
    #expect(try store.stateValue("K", of: .sample()) == nil)
    #expect(try store.stateValue("k", of: .sample("org.example.unknown")) == nil)
    try store.commit { try $0.setState("k", to: [3], of: .sample()) }
    try store.commit { try $0.setState("k", to: nil, of: other) }
    try store.commit { try $0.setState("never", to: nil, of: other) }
    #expect(try store.stateValue("k", of: .sample()) == [3])
    #expect(try store.stateValue("k", of: other) == nil)
  }

  @Test("ten thousand keys are allowed, one more is not", arguments: StoreUnderTest.allCases)
  func keyLimit(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.commit { transaction in
      for key in 1..<Limits.stateKeys { try transaction.setState("\(key)", to: [1], of: .sample()) }
    }
    try store.commit { try $0.setState("last", to: [1], of: .sample()) }
    let error = #expect(throws: StoreError.self) { try store.commit { try $0.setState("one more", to: [1], of: .sample()) } }
    #expect(error?.description.contains("10000 state keys") == true)
    try store.commit { try $0.setState("last", to: [2], of: .sample()) }
    try store.commit { try $0.setState("elsewhere", to: [1], of: .sample("org.example.other")) }
    try store.commit { try $0.setState("1", to: nil, of: .sample()) }
    try store.commit { try $0.setState("one more", to: [1], of: .sample()) }
  }

  @Test("64 MiB are allowed, a byte more is not; what is overwritten does not count", arguments: StoreUnderTest.allCases)
  func byteLimit(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    let value = [UInt8](repeating: 7, count: Limits.stateValueBytes)
    try store.commit { transaction in for key in 0..<64 { try transaction.setState("\(key)", to: value, of: .sample()) } }
    let error = #expect(throws: StoreError.self) { try store.commit { try $0.setState("more", to: [1], of: .sample()) } }
    #expect(error?.description.contains("more than 67108864") == true)
    try store.commit { try $0.setState("0", to: value, of: .sample()) }
    try store.commit { try $0.setState("0", to: [UInt8](value.dropFirst()), of: .sample()) }
    try store.commit { try $0.setState("more", to: [1], of: .sample()) }
  }

  @Test("a checkpoint lasts until its request ends", arguments: StoreUnderTest.allCases)
  func checkpoints(_ kind: StoreUnderTest) throws {
    let store = try open(kind)
    try store.add(.sample(1, origin: store.origin), .sample(2, origin: store.origin))
    for id in [store.id(1), store.id(2)] {
      try store.commit { transaction in
        try transaction.start(id, run: store.runID(10 + id.sequence), at: .ms(1))
        try transaction.setCheckpoint([1], of: id)
      }
      try store.commit { try $0.setCheckpoint([1, 2], of: id) }
      #expect(try store.checkpoint(of: id) == [1, 2])
    }
    try store.commit { try $0.succeed(store.id(1), run: store.runID(11), began: nil, outcome: .succeeded, message: nil, at: .ms(2)) }
    #expect(try store.checkpoint(of: store.id(1)) == nil)
    var second = try store.known(2)
    second.place(in: .pending)
    second.run = nil
    try store.commit { try $0.update(second) }
    #expect(try store.checkpoint(of: store.id(2)) == [1, 2])
    second.place(in: .failed)
    second.ended = .ms(3)
    try store.commit { try $0.update(second) }
    #expect(try store.checkpoint(of: store.id(2)) == nil)
  }
}
