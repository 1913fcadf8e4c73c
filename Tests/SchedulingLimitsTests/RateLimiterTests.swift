import SchedulingLimits
import TaskModel
import Testing

@Suite("Keeping to a rate")
struct RateLimiterTests {
  @Test("as many as are counted start at once, and each permits another a whole period later")
  func burst() throws {
    var limiter = RateLimiter(try Rate("5/10s"))
    #expect(limiter.available(at: at(0)) == 5)
    for left in (0..<5).reversed() {
      let start = at(Int64(5 - left) * 100)
      #expect(limiter.nextPermit(after: start) == start)
      #expect(limiter.take(now: start) == true)
      #expect(limiter.available(at: start) == left)
    }
    #expect(limiter.take(now: at(500)) == false)
    #expect(limiter.nextPermit(after: at(500)) == at(10_100))
    #expect(limiter.take(now: at(10_099)) == false)
    #expect(limiter.take(now: at(10_100)) == true)
    #expect(limiter.take(now: at(10_100)) == false)
    #expect(limiter.nextPermit(after: at(10_150)) == at(10_200))
    #expect(limiter.available(at: at(10_400)) == 3)
    #expect(limiter.available(at: at(20_100)) == 5)
    #expect(limiter.available(at: .distantFuture) == 5)
  }

  /// The most starts in any stretch of time of the rate's length.
  private static func most(_ starts: [Int64], _ rate: Rate) -> Int {
    var (most, first) = (0, 0)
    for (index, start) in starts.enumerated() {
      while starts[first] <= start - rate.period.wholeMilliseconds { first += 1 }
      most = max(most, index - first + 1)
    }
    return most
  }

  @Test("150/1s never has more than 150 in a second, after a rest and in the long run; it used to have 299")
  func everySecond() throws {
    let rate = try Rate("150/1s")
    var limiter = RateLimiter(rate)
    var starts: [Int64] = []
    for now in Int64(0)..<10_000 where now % 3000 > 500 { while limiter.take(now: at(now)) { starts.append(now) } }
    #expect(Self.most(starts, rate) == 150)
    // The rests leave 7.5 of 10 s: what the rate allows in them was started.
    #expect(starts.count >= 8 * 150)
  }

  @Test("the next start is said exactly, and no stretch of time has too many", arguments: 1...20)
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
    #expect(Self.most(starts, rate) <= rate.count)
    // Restored from the starts of the last period, it is what it was.
    limiter = RateLimiter(rate, starts: starts.filter { $0 > now - period }.shuffled(using: &numbers).map(at))
    for _ in 0..<200 {
      now += Int64.random(in: 0...(period / 4), using: &numbers)
      while limiter.take(now: at(now)) { starts.append(now) }
    }
    #expect(Self.most(starts, rate) <= rate.count)
  }

  @Test("a high count is kept to as well, and loses at most 1/512 of its pace", arguments: ["5000/1s", "20000/1m"])
  func high(_ text: String) throws {
    let rate = try Rate(text)
    let period = rate.period.wholeMilliseconds
    var (limiter, now) = (RateLimiter(rate), Int64(0))
    var starts: [(at: Int64, count: Int)] = []
    var numbers = Numbers(seed: 3)
    while now < 4 * period {
      let count = min(limiter.available(at: at(now)), Int.random(in: 0...(rate.count / 100), using: &numbers))
      let taken = (0..<count).count { _ in limiter.take(now: at(now)) }
      #expect(taken == count)
      starts.append((now, count))
      now += max(1, period / 500)
    }
    for (index, start) in starts.enumerated() {
      let inPeriod = starts[...index].reversed().prefix { $0.at > start.at - period }.reduce(0) { $0 + $1.count }
      #expect(inPeriod <= rate.count)
    }
    var full = RateLimiter(rate)
    for _ in 0..<rate.count { _ = full.take(now: at(0)) }
    #expect(full.nextPermit(after: at(1)) == at(period))
  }

  @Test("more starts than there may be, from when there might be more, block until a period after the last so many")
  func lowered() throws {
    let limiter = RateLimiter(try Rate("2/10s"), starts: (0..<50).map { at($0 * 10) })
    #expect(limiter.available(at: at(490)) == 0)
    #expect(limiter.nextPermit(after: at(490)) == at(10_480))
  }

  @Test("a start that is under way holds its place until it takes place, and counts from then")
  func held() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    #expect(limiter.take(now: at(0)) == true)
    limiter.hold(at: at(3))
    #expect(limiter.available(at: at(9_000)) == 0)
    #expect(limiter.nextPermit(after: at(5)) == at(10_000))
    #expect(limiter.newestStart == at(3))
    limiter.hold(at: at(10_000))
    // The first of them has been under way for longer than a period.
    #expect(limiter.nextPermit(after: at(20_000)) == .distantFuture)
    #expect(limiter.take(now: at(20_000)) == false)
    limiter.begin(at: at(20_000))
    #expect(limiter.nextPermit(after: at(20_000)) == at(30_000))
    limiter.begin(at: at(21_000))
    #expect(limiter.nextPermit(after: at(21_000)) == at(30_000))
    #expect(limiter.take(now: at(30_000)) == true)
    #expect(limiter.nextPermit(after: at(30_000)) == at(31_000))
  }

  @Test("a start that is under way and does not take place gives its place back, and no more than that")
  func letGo() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    limiter.letGo()
    limiter.begin(at: at(0))
    #expect(limiter.available(at: at(0)) == 2)
    limiter.hold(at: at(0))
    limiter.hold(at: at(0))
    limiter.begin(at: at(3))
    #expect(limiter.take(now: at(5)) == false)
    limiter.letGo()
    #expect(limiter.take(now: at(5)) == true)
    #expect(limiter.take(now: at(5)) == false)
    #expect(limiter.nextPermit(after: at(5)) == at(10_003))
  }

  @Test("a start that a person asked for counts, and does not block longer than others")
  func record() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    for _ in 0..<10 { limiter.record(at(0)) }
    #expect(limiter.nextPermit(after: at(0)) == at(10_000))
  }

  @Test("a start beyond the rate that does not take place leaves those before it")
  func letGoBeyond() throws {
    var limiter = RateLimiter(try Rate("1/10s"))
    limiter.record(at(0))
    limiter.hold(at: at(3))
    limiter.letGo()
    #expect(limiter.nextPermit(after: at(4)) == at(10_000))
  }

  @Test("a start that is recorded late counts with the next one that is known")
  func late() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    limiter.record(at(5))
    limiter.record(at(0))
    #expect(limiter.available(at: at(5)) == 0)
    #expect(limiter.nextPermit(after: at(5)) == at(10_005))
  }

  @Test("a clock that is set back a day frees all, and one that is set forward too")
  func clockSet() throws {
    var limiter = RateLimiter(try Rate("2/10s"))
    #expect(limiter.take(now: at(0)) == true)
    let yesterday = at(-86_400_000)
    #expect(limiter.available(at: yesterday) == 2)
    #expect(limiter.take(now: yesterday) == true)
    #expect(limiter.take(now: yesterday) == true)
    #expect(limiter.take(now: yesterday) == false)
    #expect(limiter.nextPermit(after: yesterday) == yesterday + .seconds(10))
    #expect(limiter.take(now: yesterday + .seconds(10)) == true)
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
