import TaskModel
import Testing

@testable import TaskHost

@Suite("Fleet: ends that were told of") struct FleetToldEndsTests {
  private static func time(_ milliseconds: Int) -> WallTime { WallTime(unixMilliseconds: Int64(1_000_000 + milliseconds)) }

  @Test("what ended lately is looked at again, and what ended long ago is forgotten")
  func overlap() {
    var ends = FleetToldEnds<Int>(since: Self.time(0))
    ends.note([1: Self.time(1000), 2: Self.time(14_000)], until: Self.time(15_000))
    #expect(ends.since == Self.time(3000) && ends.times == [2: Self.time(14_000)])
    // What was committed late begins a part of its own, which ends earlier.
    ends.note([3: Self.time(3500)], until: Self.time(3500))
    #expect(ends.since == Self.time(3000) && ends.times.keys.sorted() == [2, 3])
  }

  @Test("of more ends than are remembered, none is found again", arguments: [9999, 10_000, 12_000, 25_000])
  func many(_ count: Int) {
    let all = Dictionary(uniqueKeysWithValues: (0..<count).map { ($0, Self.time($0 / 3)) })
    var ends = FleetToldEnds<Int>(since: Self.time(0))
    var told: [Int: Int] = [:]
    // As `FleetSession` finds them: the oldest ones first, a thousand at a time.
    for look in 0..<40 {
      let new = all.filter { $0.value >= ends.since && ends.times[$0.key] == nil }.sorted { ($0.value, $0.key) < ($1.value, $1.key) }
      let part = new.prefix(1000)
      for (id, _) in part { told[id, default: 0] += 1 }
      let until = part.count < new.count ? part.last?.value : nil
      ends.note(Dictionary(uniqueKeysWithValues: part.map { ($0.key, $0.value) }), until: until ?? Self.time(9000 + look))
    }
    #expect(told.count == count && told.values.allSatisfy { $0 == 1 })
  }
}
