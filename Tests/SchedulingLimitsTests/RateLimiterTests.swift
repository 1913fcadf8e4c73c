import SchedulingLimits
import TaskModel
import Testing

@Suite("Keeping to a rate")
struct RateLimiterTests {
  @Test("as many as are counted start at once, then one at a time, evenly")
  func burst() throws {
    var limiter = RateLimiter(try Rate("5/10s"))
    #expect(limiter.available(at: at(0)) == 5)
    for left in (0..<5).reversed() {
      #expect(limiter.nextPermit(after: at(0)) == at(0))
      #expect(limiter.take(now: at(0)) == true)
      #expect(limiter.available(at: at(0)) == left)
    }
    #expect(limiter.take(now: at(0)) == false)
    #expect(limiter.nextPermit(after: at(0)) == at(2000))
    #expect(limiter.take(now: at(1999)) == false)
    #expect(limiter.take(now: at(2000)) == true)
    #expect(limiter.take(now: at(2000)) == false)
    #expect(limiter.nextPermit(after: at(2500)) == at(4000))
    #expect(limiter.available(at: at(9999)) == 3)
    #expect(limiter.available(at: at(12_000)) == 5)
    #expect(limiter.available(at: .distantFuture) == 5)
  }

  @Test("a pace that is no whole number of milliseconds does not drift", arguments: ["7/10s", "3/1s", "999999/30d", "1000000/1s", "64/1h"])
  func exact(_ text: String) throws {
    let rate = try Rate(text)
    var limiter = RateLimiter(rate)
    while limiter.take(now: at(0)) {}
    #expect(limiter.available(at: at(0)) == 0)
    let (count, period) = (Int64(rate.count), rate.period.wholeMilliseconds)
    let steps = stride(from: 1, through: min(5 * count, 20_000), by: 1)
    var now = at(0)
    for step in steps {
      now = limiter.nextPermit(after: now)
      let isTaken = limiter.take(now: now)
      try #require(now == at((step * period + count - 1) / count) && isTaken, "start \(step)")
    }
  }

  @Test("the next start is said exactly, no period has too many, and in the long run there are as many as there may be", arguments: 1...20)
  func random(seed: Int) throws {
    var numbers = Numbers(seed: seed)
    let rate = try #require(
      Rate(count: .random(in: 1...20, using: &numbers), period: .milliseconds(.random(in: 1000...9000, using: &numbers))))
    let period = rate.period.wholeMilliseconds
    var limiter = RateLimiter(rate)
    var starts: [Int64] = []
    var now: Int64 = 0
    for _ in 0..<500 {
      if Int.random(in: 0..<10, using: &numbers) == 0 { now += Int64.random(in: 0...(period / 4), using: &numbers) }
      let next = limiter.nextPermit(after: at(now))
      #expect((next == at(now)) == (limiter.available(at: at(now)) > 0))
      var (early, onTime) = (limiter, limiter)
      let (isTooEarly, isOnTime) = (next == at(now) || !early.take(now: next + .milliseconds(-1)), onTime.take(now: next))
      #expect(isTooEarly && isOnTime)
      if limiter.take(now: at(now)) { starts.append(now) }
    }
    Self.expectFew(starts, rate)
    #expect(starts.count <= Int(now / period + 2) * rate.count)
    // Restored from what started, it is what it was.
    let restored = RateLimiter(rate, starts: starts.shuffled(using: &numbers).map(at))
    for later in 0..<Int64(20) { #expect(restored.available(at: at(now + later * 500)) == limiter.available(at: at(now + later * 500))) }
    // And without those of long ago, still no period has too many.
    limiter = RateLimiter(rate, starts: starts.filter { $0 > now - period }.map(at))
    for _ in 0..<200 {
      now += Int64.random(in: 0...(period / 4), using: &numbers)
      while limiter.take(now: at(now)) { starts.append(now) }
    }
    Self.expectFew(starts, rate)
  }

  /// In no period are there more than 2 × count − 1.
  private static func expectFew(_ starts: [Int64], _ rate: Rate) {
    let most = starts.indices.map { index in starts[index...].prefix { $0 < starts[index] + rate.period.wholeMilliseconds }.count }.max()
    #expect(most ?? 0 <= 2 * rate.count - 1)
  }

  @Test("more starts than there may be, from when there might be more, block for one pace and not longer")
  func lowered() throws {
    let limiter = RateLimiter(try Rate("2/10s"), starts: (0..<50).map { at($0 * 10) })
    #expect(limiter.available(at: at(490)) == 0)
    #expect(limiter.nextPermit(after: at(490)) == at(5490))
  }

  @Test("what is given back can be taken again, and no more than that")
  func giveBack() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    limiter.giveBack()
    #expect(limiter.available(at: at(0)) == 2)
    #expect(limiter.take(now: at(0)) == true)
    #expect(limiter.take(now: at(0)) == true)
    #expect(limiter.take(now: at(0)) == false)
    limiter.giveBack()
    #expect(limiter.take(now: at(0)) == true)
    #expect(limiter.take(now: at(0)) == false)
  }

  @Test("a start that a person asked for counts, and does not block longer than others")
  func record() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    for _ in 0..<10 { limiter.record(at(0)) }
    #expect(limiter.nextPermit(after: at(0)) == at(5000))
  }

  @Test("a clock that is set back a day blocks for one pace, and not at all what is free; one that is set forward frees all")
  func clockSet() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    #expect(limiter.take(now: at(0)) == true)
    let yesterday = at(-86_400_000)
    #expect(limiter.available(at: yesterday) == 1)
    #expect(limiter.take(now: yesterday) == true)
    #expect(limiter.take(now: yesterday) == false)
    #expect(limiter.nextPermit(after: yesterday) == yesterday + .seconds(5))
    #expect(limiter.take(now: yesterday + .seconds(5)) == true)
    #expect(limiter.available(at: at(0)) == 2)
  }

  @Test("shifted with the clock, it says the same as before", arguments: [Int64(-86_400_000), 1, 5_000_000])
  func shifted(_ amount: Int64) throws {
    var limiter = RateLimiter(try Rate("3/10s"))
    #expect(limiter.take(now: at(0)) == true)
    #expect(limiter.take(now: at(1000)) == true)
    #expect(limiter.take(now: at(1500)) == true)
    let shifted = limiter.shifted(by: .milliseconds(amount))
    for time in stride(from: Int64(1500), through: 20_000, by: 100) {
      #expect(shifted.available(at: at(time + amount)) == limiter.available(at: at(time)))
      #expect(shifted.nextPermit(after: at(time + amount)) == limiter.nextPermit(after: at(time)) + .milliseconds(amount))
    }
  }

  @Test("at the ends of the calendar nothing overflows")
  func ends() throws {
    for text in ["1/30d", "1000000/30d", "1000000/1s"] {
      var limiter = RateLimiter(try Rate(text))
      let (first, last) = (WallTime(unixMilliseconds: .min), WallTime.distantFuture)
      #expect(limiter.take(now: first) == true)
      #expect(limiter.take(now: last) == true)
      _ = limiter.take(now: first)
      _ = limiter.nextPermit(after: last)
      #expect(limiter.shifted(by: .seconds(Int64.max)).available(at: last) >= 0)
    }
  }
}
