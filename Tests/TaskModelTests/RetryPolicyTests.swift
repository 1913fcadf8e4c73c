import TaskModel
import Testing

@Suite("Retry policy") struct RetryPolicyTests {
  /// A policy and its delays in seconds, from the first attempt on.
  private static let delays: [(RetryPolicy, [Int])] = [
    (RetryPolicy(), [30, 60, 120, 240, 480, 960, 1920, 3840, 7680, 15_360, 18_000, 18_000]),
    (RetryPolicy(backoff: .linear), [30, 60, 90, 120, 150, 180]),
    (RetryPolicy(backoff: .linear, initial: .seconds(100), maximum: .seconds(250)), [100, 200, 250, 250]),
    (RetryPolicy(initial: .seconds(10), maximum: .seconds(5)), [5, 5]),
    (RetryPolicy(initial: .zero), [0, 0, 0]),
    (RetryPolicy(initial: .seconds(-3)), [0, 0]),
  ]
  private static let jitters: [(Double, Int)] = [(-1.0, 24_000), (1.0, 36_000), (-7.0, 24_000), (7.0, 36_000), (0.5, 33_000)]

  @Test("delays without jitter", arguments: delays)
  func table(_ policy: RetryPolicy, _ seconds: [Int]) {
    #expect((1...seconds.count).map { policy.delay(afterAttempt: $0, jitter: 0) } == seconds.map { .seconds($0) })
  }

  @Test("jitter moves a delay by up to a fifth, and no further", arguments: jitters)
  func jitter(_ jitter: Double, _ milliseconds: Int) {
    #expect(RetryPolicy().delay(afterAttempt: 1, jitter: jitter) == .milliseconds(milliseconds))
  }

  @Test("no jitter leads beyond the maximum, and the longest delays are spread all the same", arguments: RetryPolicy.Backoff.allCases)
  func maximum(_ backoff: RetryPolicy.Backoff) {
    let policy = RetryPolicy(backoff: backoff, initial: .seconds(30), maximum: .seconds(100))
    for attempt in 1...10 {
      let delays = stride(from: -1.0, through: 1.0, by: 0.01).map { policy.delay(afterAttempt: attempt, jitter: $0) }
      #expect(delays.allSatisfy { $0 <= .seconds(100) })
      #expect(Set(delays).count > 90, "attempt \(attempt)")
    }
    #expect(policy.delay(afterAttempt: 9, jitter: 1) == .seconds(80))
    #expect(policy.delay(afterAttempt: 9, jitter: -1) == .seconds(80))
  }

  @Test("an attempt below 1 counts as the first, one beyond all measure as the longest delay")
  func extremes() {
    #expect(RetryPolicy().delay(afterAttempt: 0, jitter: 0) == .seconds(30))
    #expect(RetryPolicy().delay(afterAttempt: -5, jitter: 0) == .seconds(30))
    #expect(RetryPolicy().delay(afterAttempt: .max, jitter: 0) == .seconds(18_000))
    #expect(RetryPolicy(attempts: 0).attempts == 1)
  }

  @Test("the longest durations do not overflow", arguments: RetryPolicy.Backoff.allCases)
  func longest(_ backoff: RetryPolicy.Backoff) {
    let policy = RetryPolicy(backoff: backoff, initial: .seconds(Int64.max), maximum: .seconds(Int64.max))
    #expect(policy.delay(afterAttempt: 64, jitter: 0) == .milliseconds(Int64.max))
    #expect(policy.delay(afterAttempt: .max, jitter: -1) > .milliseconds(Int64.max / 2))
  }
}
