import MemoryStore
import StoreTestSupport
import TaskModel
import Testing

@Suite("The store in memory") struct MemoryRequestStoreTests {
  @Test("refuses everything once it is closed")
  func closed() {
    let store = MemoryRequestStore()
    store.close()
    #expect(throws: StoreError.other("the store is closed")) { try store.commit { _ in } }
    #expect(throws: StoreError.other("the store is closed")) { try store.counts() }
  }

  @Test("has the origin it is given, or one of its own")
  func origin() {
    #expect(MemoryRequestStore(origin: .max).origin == 0x3FFF_FFFF_FFFF_FFFF)
    #expect(MemoryRequestStore().origin != MemoryRequestStore().origin)
  }

  @Test("is read from any thread while one writes")
  func threads() async throws {
    let store = MemoryRequestStore()
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...500 { try? store.commit { try $0.insert(.sample(Int64(number), origin: store.origin)) } }
      }
      for _ in 0..<3 { group.addTask { for _ in 0..<200 { _ = try? store.counts() } } }
    }
    #expect(try store.counts() == [.pending: 500])
  }

  @Test("takes a few microseconds for a start and an end among a hundred thousand pending requests")
  func quick() throws {
    let store = MemoryRequestStore()
    try store.commit { transaction in
      for number in 1...100_000 as ClosedRange<Int64> {
        try transaction.insert(.sample(number, origin: store.origin, due: .ms(number * 7919 % 100_003)))
      }
    }
    let count: Int64 = 1000
    let time = try ContinuousClock().measure {
      for number in 1...count {
        try store.commit { transaction in
          let lane = Lane(.sample())
          guard let next = try transaction.due(in: lane, by: .ms(200_000), limit: 1).first else { return }
          let run = RunID(sequence: 1_000_000 + number, origin: store.origin)
          try transaction.start(next.id, run: run, at: .ms(1))
          try transaction.succeed(next.id, run: run, began: nil, outcome: .succeeded, message: nil, at: .ms(2))
        }
      }
    }
    print("a start and an end took \(time / Int(count))")
    #if !DEBUG
      #expect(time / Int(count) < .microseconds(500))
    #endif
    #expect(try store.counts()[.succeeded] == Int(count))
  }
}
