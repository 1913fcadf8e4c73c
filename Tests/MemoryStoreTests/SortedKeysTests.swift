import StoreTestSupport
import Testing

@testable import MemoryStore

@Suite("Sorted keys") struct SortedKeysTests {
  @Test("are what sorting everything gives, however they come and go", arguments: 1...4 as ClosedRange<UInt64>)
  func againstSorting(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var keys = SortedKeys()
    var expected: [SortedKeys.Key] = []
    for round in 0..<3000 {
      if expected.isEmpty || Int.random(in: 0..<3, using: &random) > 0 {
        // Some rising, some anywhere.
        let rank = seed.isMultiple(of: 2) ? Int64(round) : Int64.random(in: 0..<50, using: &random)
        let key = SortedKeys.Key(rank: rank, id: Int64(round))
        keys.insert(key)
        expected.append(key)
      } else {
        keys.remove(expected.remove(at: Int.random(in: 0..<expected.count, using: &random)))
      }
    }
    expected.sort()
    #expect(keys.count == expected.count && keys.first == expected.first && !keys.isEmpty)
    var found: [SortedKeys.Key] = []
    keys.visit {
      found.append($0)
      return true
    }
    #expect(found == expected)
    var reversed: [SortedKeys.Key] = []
    keys.visitReversed {
      reversed.append($0)
      return reversed.count < 10
    }
    #expect(reversed == Array(expected.reversed().prefix(10)))
    #expect(keys.prefix(through: 25, limit: 7) == Array(expected.filter { $0.rank <= 25 }.prefix(7)))
    #expect(keys.prefix(through: 25, limit: 0).isEmpty)
    for key in expected { keys.remove(key) }
    #expect(keys.isEmpty && keys.first == nil)
    keys.remove(SortedKeys.Key(rank: 1, id: 1))
    #expect(keys.isEmpty)
  }
}
