import SchedulingLimits
import TaskModel
import Testing

@Suite("Run time quotas")
struct RunQuotaTests {
  @Test(
    "a quota is read and written back",
    arguments: [
      ("30m/1d", 1800, 86_400, "30m/1d"), ("90s/1h", 90, 3600, "1m30s/1h"), ("2h/1h", 7200, 3600, "2h/1h"), ("1s/60s", 1, 60, "1s/1m"),
    ])
  func read(_ text: String, _ time: Int, _ period: Int, _ written: String) throws {
    let quota = try RunQuota(text)
    #expect((quota.time, quota.period, quota.description) == (.seconds(time), .seconds(period), written))
    #expect(try RunQuota(written) == quota)
    #expect(RunQuota(time: .seconds(time), period: .seconds(period)) == quota)
  }

  @Test(
    "what is wrong with a quota is said",
    arguments: [
      ("", "as \"30m/1d\""), ("30m", "as \"30m/1d\""), ("30/1d", "as \"30m/1d\""), ("30m/", "as \"30m/1d\""), ("30m/1d/2", "as \"30m/1d\""),
      ("0s/1d", "run time is not from 1s to 30d"), ("31d/1d", "run time"), ("30m/59s", "period is not from 1m to 30d"),
      ("30m/31d", "period"),
    ])
  func wrong(_ text: String, _ words: String) throws {
    let error = try #require(throws: LimitSyntaxError.self) { try RunQuota(text) }
    #expect(error.description.hasPrefix("quota \"\(text)\": "))
    #expect(error.description.contains(words), "\(error)")
  }

  @Test("a run counts for the part of it that lies in the last period")
  func sliding() throws {
    var meter = RunQuotaMeter(try RunQuota("10s/1m"))
    meter.record(start: at(0), duration: .seconds(6), outcome: .succeeded)
    #expect(meter.used(at: at(6000)) == .seconds(6))
    #expect(meter.used(at: at(60_000)) == .seconds(6))
    #expect(meter.used(at: at(63_000)) == .seconds(3))
    #expect(meter.used(at: at(66_000)) == .zero)
    // Two at once count both.
    meter.record(start: at(1000), duration: .seconds(4), outcome: .succeeded)
    #expect(meter.used(at: at(6000)) == .seconds(10))
    #expect(meter.used(at: at(62_000)) == .seconds(7))
    // As do those that go on.
    #expect(meter.used(at: at(6000), live: [at(4000), at(5000), at(7000)]) == .seconds(13))
    #expect(meter.used(at: at(100_000), live: [at(0)]) == .seconds(60))
  }

  @Test("it opens at the first moment at which less than the allowance is used")
  func opens() throws {
    var meter = RunQuotaMeter(try RunQuota("10s/1m"))
    #expect(meter.opensAt(at(0)) == at(0))
    meter.record(start: at(0), duration: .seconds(12), outcome: .succeeded)
    #expect(meter.opensAt(at(12_000)) == at(62_001))
    #expect(meter.opensAt(at(70_000)) == at(70_000))
    // A live run is taken to end now.
    #expect(meter.opensAt(at(70_000), live: [at(61_000)]) == at(70_000) + .milliseconds(1001))
  }

  @Test("what is used is the sum over any runs, and the opening is exact", arguments: 1...20)
  func random(seed: Int) throws {
    var numbers = Numbers(seed: seed)
    let quota = try RunQuota("20s/1m")
    var meter = RunQuotaMeter(quota)
    var runs: [(start: Int64, duration: Int64)] = []
    var now: Int64 = 0
    for _ in 0..<200 {
      let run = (start: now + Int64.random(in: 0...3000, using: &numbers), duration: Int64.random(in: 0...4000, using: &numbers))
      runs.append(run)
      meter.record(start: at(run.start), duration: .milliseconds(run.duration), outcome: .succeeded)
      now = max(now, run.start + run.duration) - (Int.random(in: 0...2, using: &numbers) == 0 ? min(2000, run.duration) : 0)
      let moment = runs.map { $0.start + $0.duration }.max() ?? 0
      let sum = runs.reduce(Int64(0)) { $0 + max(0, min($1.start + $1.duration, moment) - max($1.start, moment - 60_000)) }
      #expect(meter.used(at: at(moment)) == .milliseconds(sum))
      let opens = meter.opensAt(at(moment))
      #expect(meter.used(at: opens) < meter.allowance(at: at(moment)).time)
      if opens > at(moment) { #expect(meter.used(at: opens + .milliseconds(-1)) >= meter.allowance(at: at(moment)).time) }
    }
  }

  @Test("a hundred thousand runs take no more room than a thousand, and are measured to a thousandth of the period")
  func many() throws {
    var meter = RunQuotaMeter(try RunQuota("1h/1d"))
    for index in 0..<100_000 { meter.record(start: at(Int64(index) * 864), duration: .milliseconds(100), outcome: .succeeded) }
    // The whole period is full of them.
    let end: Int64 = 100_000 * 864
    #expect((meter.used(at: at(end)) - .seconds(10_000)).wholeMilliseconds.magnitude <= 20_000)
    #expect((meter.used(at: at(end + 43_200_000)) - .seconds(5000)).wholeMilliseconds.magnitude <= 20_000)
    #expect(meter.used(at: at(end + 86_400_000)) == .zero)
  }

  @Test("each bucket may have a time and a period of its own: what counts is the bucket's period")
  func buckets() throws {
    let texts: [BehaviourBucket: String] = [
      .active: "20m/1h", .working: "10m/4h", .frequent: "10m/12h", .rare: "10m/1d", .restricted: "5m/1d",
    ]
    let quota = try #require(RunQuota(buckets: try texts.mapValues { try RunQuota($0) }))
    #expect(quota.description == "active 20m/1h, working 10m/4h, frequent 10m/12h, rare 10m/1d, restricted 5m/1d")
    #expect(RunQuota(buckets: [.active: quota]) == nil)
    var meter = RunQuotaMeter(quota)
    // Active, as fewer than five runs are known.
    meter.record(start: at(0), duration: .seconds(1200), outcome: .failed)
    #expect(meter.opensAt(at(1_200_000)) == at(3_600_001))
    #expect(meter.usedUpSince(at(1_200_000)) == at(1_200_000))
    // Restricted after five failures: the same run counts for a day.
    for index in 0..<4 { meter.record(start: at(1_200_000 + Int64(index)), duration: .zero, outcome: .failed) }
    #expect(meter.bucket(at: at(7_200_000)) == .restricted)
    #expect(meter.used(at: at(7_200_000)) == .seconds(1200))
    // From 15 min before the end of the run's day, less than 5 min of it count.
    #expect(meter.opensAt(at(7_200_000)) == at(86_400_000 + 900_001))
    #expect(
      meter.explain(at: at(7_200_000))
        == "used 20 min of 5 min in the last 1 d; bucket restricted because 0 of the last 5 runs succeeded")
    for index in 0..<16 { meter.record(start: at(7_200_000 + Int64(index)), duration: .zero, outcome: .succeeded) }
    #expect(meter.bucket(at: at(8_000_000)) == .active)
    #expect(meter.opensAt(at(8_000_000)) == at(8_000_000))
  }

  @Test("shifted with the clock, it says the same as before")
  func shifted() throws {
    var meter = RunQuotaMeter(try RunQuota("10s/1m"))
    for index in 0..<30 { meter.record(start: at(Int64(index) * 1000), duration: .milliseconds(500), outcome: .failed) }
    let day: Int64 = -86_400_000
    let shifted = meter.shifted(by: .milliseconds(day))
    #expect(shifted.used(at: at(day + 40_000)) == meter.used(at: at(40_000)))
    #expect(shifted.opensAt(at(day + 40_000)) == meter.opensAt(at(40_000)) + .milliseconds(day))
    #expect(shifted.explain(at: at(day + 40_000)) == meter.explain(at: at(40_000)))
  }

  @Test("at the ends of the calendar nothing overflows")
  func ends() throws {
    let (first, last) = (WallTime(unixMilliseconds: .min), WallTime.distantFuture)
    var meter = RunQuotaMeter(try RunQuota("10s/30d"))
    for start in [first, last] { meter.record(start: start, duration: .seconds(Int64.max), outcome: .succeeded) }
    for now in [first, last] {
      #expect(meter.used(at: now, live: [first, last]) >= .zero)
      _ = meter.opensAt(now, live: [first, last])
      _ = meter.explain(at: now)
    }
    for amount in [Int64.min, Int64.max] { #expect(meter.shifted(by: .seconds(amount)).used(at: last) >= .zero) }
  }
}
