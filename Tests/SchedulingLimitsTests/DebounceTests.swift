import SchedulingLimits
import TaskModel
import Testing

@Suite("Debounce")
struct DebounceTests {
  @Test(
    "it fires when nothing has come for a while, and after five times that at most",
    arguments: [
      ([0], 1000), ([0, 0, 0], 1000), ([0, 500], 1500), ([0, 500, 1400], 2400), ([0, 900, 1800, 2700, 3600], 4600),
      ([0, 900, 1800, 2700, 3600, 4500], 5000), ([0, 999, 1998, 2997, 3996, 4000, 4999], 5000), ([100, 4900], 5100),
    ] as [([Int64], Int64)])
  func fires(_ arrivals: [Int64], _ expected: Int64) {
    var debounce = Debounce(quiet: .seconds(1))
    for arrival in arrivals { debounce.arrive(at: at(arrival)) }
    #expect(debounce.firesAt == at(expected))
    #expect(debounce.fire(at: at(expected - 1)) == nil)
    #expect(debounce.fire(at: at(expected)) == arrivals.count)
    #expect(debounce.fire(at: at(expected + 10_000)) == nil)
    #expect(debounce.firesAt == nil)
    debounce.arrive(at: at(20_000))
    #expect((debounce.first, debounce.last, debounce.count) == (at(20_000), at(20_000), 1))
  }

  @Test("without a wait it fires at once, one for all that came by then")
  func noWait() {
    for quiet in [Duration.zero, .seconds(-5)] {
      var debounce = Debounce(quiet: quiet)
      debounce.arrive(at: at(7))
      debounce.arrive(at: at(7))
      #expect(debounce.fire(at: at(7)) == 2)
    }
  }

  @Test("nobody waits longer than five waits, and each arrival is in exactly one firing", arguments: 1...20)
  func random(seed: Int) throws {
    var numbers = Numbers(seed: seed)
    var debounce = Debounce(quiet: .seconds(1))
    var now: Int64 = 0
    var (arrived, fired) = (0, 0)
    for _ in 0..<1000 {
      now += Int64.random(in: 0...1500, using: &numbers)
      while let time = debounce.firesAt, time <= at(now) {
        let first = try #require(debounce.first)
        let last = try #require(debounce.last)
        #expect(time <= first + .seconds(5))
        #expect(time == last + .seconds(1) || time == first + .seconds(5))
        let count = debounce.fire(at: time)
        fired += try #require(count)
      }
      debounce.arrive(at: at(now))
      arrived += 1
    }
    #expect(fired + debounce.count == arrived)
  }

  @Test("a clock that is set back begins the wait anew; shifted with the clock, it goes on")
  func clockSet() {
    var debounce = Debounce(quiet: .seconds(1))
    debounce.arrive(at: at(0))
    let shifted = debounce.shifted(by: .seconds(-3600))
    #expect(shifted.firesAt == at(1000 - 3_600_000))
    debounce.arrive(at: at(-3_600_000))
    #expect(debounce.firesAt == at(1000 - 3_600_000))
    #expect(debounce.count == 2)
  }

  @Test("it goes on as it was stored")
  func stored() {
    var debounce = Debounce(quiet: .seconds(1), first: at(0), last: at(4500), count: 7)
    #expect(debounce.firesAt == at(5000))
    #expect(debounce.fire(at: at(5000)) == 7)
    #expect(Debounce(quiet: .seconds(1), first: at(0), last: at(0), count: 0).firesAt == nil)
    #expect(Debounce(quiet: .seconds(1), first: at(500), last: at(0), count: 1).firesAt == at(1500))
  }
}
