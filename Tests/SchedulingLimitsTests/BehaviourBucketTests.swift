import SchedulingLimits
import TaskModel
import Testing

@Suite("Buckets by behaviour")
struct BehaviourBucketTests {
  @Test(
    "the share of useful runs makes the bucket, and the bucket the share of the quota",
    arguments: [
      (20, 0, 0, BehaviourBucket.active, 60), (16, 0, 4, .active, 60), (15, 0, 5, .working, 30), (15, 2, 3, .active, 60),
      (15, 1, 4, .working, 30), (10, 0, 10, .working, 30), (9, 1, 10, .frequent, 15), (7, 0, 13, .frequent, 15),
      (6, 1, 13, .rare, 15), (0, 20, 0, .working, 30), (4, 0, 16, .rare, 15),
      (3, 1, 16, .restricted, 6), (0, 0, 20, .restricted, 6), (0, 0, 5, .restricted, 6), (0, 0, 4, .active, 60), (0, 0, 0, .active, 60),
      (4, 0, 1, .active, 60),
    ])
  func share(_ succeeded: Int, _ idle: Int, _ failed: Int, _ bucket: BehaviourBucket, _ minutes: Int) throws {
    var meter = RunQuotaMeter(try RunQuota("1h/1d"))
    let outcomes = [(RunOutcome.succeeded, succeeded), (.noop, idle), (.failed, failed)].flatMap { Array(repeating: $0, count: $1) }
    for (index, outcome) in outcomes.enumerated() { meter.record(start: at(Int64(index)), duration: .zero, outcome: outcome) }
    #expect(meter.bucket(at: at(100)) == bucket)
    #expect(meter.allowance(at: at(100)).time == .seconds(minutes * 60))
  }

  @Test("what somebody else ended says nothing; what is useful in part counts half", arguments: RunOutcome.allCases)
  func merit(_ outcome: RunOutcome) {
    let expected: BehaviourBucket.Merit? =
      switch outcome {
      case .succeeded: .full
      case .noop, .snoozed: .half
      case .retried, .failed, .expired, .crashed: BehaviourBucket.Merit.none
      case .cancelled, .stopped, .lost: nil
      }
    #expect(BehaviourBucket.Merit(outcome) == expected)
  }

  @Test("only the last twenty runs count, by when they started, and only for a month")
  func last() throws {
    var meter = RunQuotaMeter(try RunQuota("1h/1d"))
    for index in 0..<20 { meter.record(start: at(Int64(index) * 1000), duration: .seconds(1), outcome: .failed) }
    #expect(meter.bucket(at: at(20_000)) == .restricted)
    #expect(meter.bucket(at: at(31 * 86_400_000)) == .active)
    // One that comes late does not push a later one out.
    meter.record(start: at(-1000), duration: .seconds(1), outcome: .succeeded)
    #expect(meter.explain(at: at(20_000)).contains("0 of the last 20 runs"))
    for index in 20..<36 { meter.record(start: at(Int64(index) * 1000), duration: .seconds(1), outcome: .succeeded) }
    #expect(meter.bucket(at: at(40_000)) == .active)
    meter.forgetBehaviour()
    #expect(meter.explain(at: at(40_000)).contains("fewer than 5 runs are known (0)"))
    #expect(meter.used(at: at(40_000)) > .zero)
  }

  @Test("what is used, of how much and why is said in a sentence")
  func sentence() throws {
    var meter = RunQuotaMeter(try RunQuota("1h/1d"))
    #expect(
      meter.explain(at: at(0)) == "used 0 s of 1 h in the last 1 d; bucket active because fewer than 5 runs are known (0)")
    for index in 0..<20 {
      meter.record(start: at(Int64(index) * 200_000), duration: .seconds(96), outcome: index < 9 ? .failed : .succeeded)
    }
    #expect(
      meter.explain(at: at(4_000_000))
        == "used 32 min of 30 min (half of 1 h) in the last 1 d; bucket working because 11 of the last 20 runs succeeded")
    meter.record(start: at(5_000_000), duration: .seconds(5430), outcome: .noop)
    #expect(
      meter.explain(at: at(11_000_000))
        == "used 2 h 2 min of 30 min (half of 1 h) in the last 1 d; bucket working because 11 of the last 20 runs succeeded, and 1 had "
        + "nothing to do or did only a part, which counts half")
  }
}
