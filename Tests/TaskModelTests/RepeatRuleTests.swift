import StoreTestSupport
import TaskModel
import Testing

@Suite("Repeat rule") struct RepeatRuleTests {
  private func following(_ interval: Duration = .seconds(60), after occurrence: WallTime, now: WallTime) -> WallTime {
    RepeatRule.next(every: interval, after: occurrence, now: now)
  }

  /// When the next occurrence after 0 is asked for, and when it is, in milliseconds.
  private static let afterStart: [(Int64, Int64)] = [
    (0, 60_000), (1, 60_000), (59_999, 60_000), (60_000, 120_000), (60_001, 120_000), (86_400_005, 86_460_000),
  ]

  @Test("the next occurrence lies on the grid, whenever it is asked for", arguments: afterStart)
  func grid(_ now: Int64, _ next: Int64) { #expect(following(after: .ms(0), now: .ms(now)) == .ms(next)) }

  @Test("an occurrence that is still to come stays")
  func early() { #expect(following(after: .ms(500), now: .ms(499)) == .ms(500)) }

  @Test("ten thousand occurrences that end late do not drift")
  func noDrift() {
    var generator = SeededGenerator(seed: 3)
    var occurrence = WallTime.testStart
    for _ in 0..<10_000 {
      let ended = occurrence + .milliseconds(Int64.random(in: 0...150_000, using: &generator))
      let next = following(after: occurrence, now: ended)
      #expect(next > ended && next - ended <= .seconds(60))
      #expect((next - .testStart).wholeMilliseconds % 60_000 == 0)
      occurrence = next
    }
  }

  @Test("the longest and shortest intervals stop at the end of the range")
  func extremes() {
    let never = WallTime(unixMilliseconds: .max)
    #expect(following(.milliseconds(Int64.max), after: .ms(0), now: .ms(1)) == never)
    #expect(following(.seconds(Int64.max), after: .ms(0), now: .ms(1)) == never)
    #expect(following(after: WallTime(unixMilliseconds: .min), now: never) == never)
    #expect(following(.zero, after: .ms(0), now: .ms(7)) == .ms(8))
    #expect(following(.seconds(-1), after: .ms(0), now: .ms(7)) == .ms(8))
  }
}
