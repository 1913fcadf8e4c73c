import SchedulingLimits
import TaskModel
import Testing

@Suite("When to wake")
struct WakePlanTests {
  private static func wishes(_ wishes: [(Int64, Int64)]) -> [WakePlan.Wish] {
    wishes.map { WakePlan.Wish(due: at($0.0), flex: .milliseconds($0.1)) }
  }

  @Test(
    "it wakes at the last moment that all tolerate, for all that is due by then",
    arguments: [
      ([], []), ([(10, 0)], [(10, [0])]), ([(10, 5)], [(15, [0])]), ([(10, 100), (20, 5)], [(25, [0, 1])]),
      ([(10, 5), (20, 5)], [(15, [0]), (25, [1])]), ([(10, 10), (20, 0)], [(20, [0, 1])]),
      ([(10, 10), (20, 10), (30, 0)], [(20, [0, 1]), (30, [2])]),
      ([(30, 0), (10, 100), (12, 3), (15, 90)], [(15, [1, 2, 3]), (30, [0])]), ([(10, -5)], [(10, [0])]),
      ([(10, 0), (10, 0), (10, 1000)], [(10, [0, 1, 2])]),
    ] as [([(Int64, Int64)], [(Int64, [Int])])])
  func table(_ wanted: [(Int64, Int64)], _ expected: [(Int64, [Int])]) {
    let wakes = WakePlan.wakes(Self.wishes(wanted))
    #expect(wakes.map(\.time) == expected.map { at($0.0) })
    #expect(wakes.map(\.wishes) == expected.map(\.1))
    #expect(WakePlan.next(Self.wishes(wanted)) == expected.first.map { at($0.0) })
  }

  @Test("what waits for something else wakes nobody, and the end of the calendar is not passed")
  func never() {
    #expect(WakePlan.next([WakePlan.Wish(due: .distantFuture, flex: .zero)]) == nil)
    #expect(
      WakePlan.wakes([WakePlan.Wish(due: .distantFuture, flex: .seconds(60)), WakePlan.Wish(due: at(1), flex: .zero)]).map(\.wishes) == [
        [1]
      ])
    let late = WakePlan.Wish(due: WallTime(unixMilliseconds: .max - 10), flex: .seconds(60))
    #expect(late.latest == .distantFuture)
    #expect(WakePlan.wakes([late]).map(\.time) == [.distantFuture])
  }

  @Test("each is done once, in its time, and no plan has fewer wake-ups", arguments: 1...30)
  func random(seed: Int) {
    var numbers = Numbers(seed: seed)
    for _ in 0..<30 {
      let count = Int.random(in: 0...9, using: &numbers)
      let wishes = Self.wishes((0..<count).map { _ in (.random(in: 0...60, using: &numbers), .random(in: 0...25, using: &numbers)) })
      let wakes = WakePlan.wakes(wishes)
      #expect(wakes.flatMap(\.wishes).sorted() == Array(wishes.indices))
      for wake in wakes {
        for index in wake.wishes { #expect(wishes[index].due <= wake.time && wake.time <= wishes[index].latest) }
      }
      #expect(zip(wakes, wakes.dropFirst()).allSatisfy { $0.time < $1.time })
      let next = WakePlan.next(wishes)
      #expect(next == wakes.first?.time)
      if let next { #expect(wishes.allSatisfy { next <= $0.latest } && wishes.contains { next >= $0.due }) }
      #expect(wakes.count == Self.fewest(wishes))
    }
  }

  /// By trying all sets of moments; the last moment of something will always do.
  private static func fewest(_ wishes: [WakePlan.Wish]) -> Int {
    (0..<1 << wishes.count).filter { chosen in
      wishes.allSatisfy { wish in
        wishes.indices.contains { chosen & 1 << $0 != 0 && wish.due <= wishes[$0].latest && wishes[$0].latest <= wish.latest }
      }
    }.map(\.nonzeroBitCount).min() ?? 0
  }
}
