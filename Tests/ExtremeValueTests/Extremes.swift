import StoreTestSupport
import TaskModel

/// Draws values at the ends of their ranges, and a step beyond; the same ones for the same seed.
struct Extremes {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  /// Numbers on which arithmetic in milliseconds, seconds or nanoseconds overflows, or nearly does.
  static let numbers: [Int64] = [
    .min, .min + 1, .min + 998, .min / 1000, -253_402_300_799_999, Int64(Int32.min) - 1, -86_400_000, -1000, -1, 0, 1, 999, 1000,
    86_400_000,
    Int64(Int32.max), Int64(UInt32.max), Int64(UInt32.max) + 1, 253_402_300_799_999, 253_402_300_800_000, .max / 1_000_000, .max / 1000,
    .max / 1000 + 1, .max / 2, .max - 999, .max - 1, .max,
  ]

  mutating func number() -> Int64 { Self.numbers.randomElement(using: &generator) ?? 0 }

  mutating func time() -> WallTime { WallTime(unixMilliseconds: number()) }

  /// Also longer ones than a number of milliseconds says.
  mutating func duration() -> Duration {
    switch Int.random(in: 0..<4, using: &generator) {
    case 0: .seconds(number())
    case 1: .nanoseconds(number())
    default: .milliseconds(number())
    }
  }

  mutating func index(below count: Int) -> Int { Int.random(in: 0..<count, using: &generator) }

  /// True once in `count` times.
  mutating func once(in count: Int) -> Bool { index(below: count) == 0 }

  mutating func maybe<Value>(_ value: (inout Extremes) -> Value) -> Value? { once(in: 2) ? value(&self) : nil }

  /// A request whose every number may be extreme.
  /// A request with one or two fields of ``request(_:)``: with all of them, hardly one could be taken.
  mutating func nearlyTame(_ identifier: TaskIdentifier) -> TaskRequest {
    var tame = TaskRequest(identifier: identifier)
    for _ in 0...index(below: 2) {
      let wild = request(identifier)
      switch index(below: 12) {
      case 0: tame.earliestBegin = wild.earliestBegin
      case 1: tame.deadline = wild.deadline
      case 2: tame.priority = wild.priority
      case 3: tame.conditions = wild.conditions
      case 4: tame.gates.flex = wild.gates.flex
      case 5: tame.gates.resources = wild.gates.resources
      case 6: tame.retry = wild.retry
      case 7: tame.repetition = wild.repetition
      case 8: tame.event = wild.event
      case 9: (tame.uniqueKey, tame.onConflict, tame.uniqueWindow) = (wild.uniqueKey, wild.onConflict, wild.uniqueWindow)
      case 10: tame.jitter = wild.jitter
      default: tame.delay = duration()
      }
    }
    return tame
  }

  mutating func request(_ identifier: TaskIdentifier) -> TaskRequest {
    var request = TaskRequest(identifier: identifier)
    request.earliestBegin = maybe { $0.time() }
    request.deadline = once(in: 4) ? time() : nil
    request.priority = once(in: 3) ? Int(clamping: number()) : index(below: 21) - 10
    request.conditions = Conditions(rawValue: once(in: 4) ? UInt32(truncatingIfNeeded: number()) : 0)
    request.gates.flex = once(in: 3) ? duration() : .zero
    request.jitter = once(in: 3) ? duration() : .zero
    request.gates.resources = once(in: 5) ? ["gpu": Int(clamping: number())] : [:]
    request.clock = once(in: 2) ? .boot : .wall
    request.retry = maybe {
      RetryPolicy(
        attempts: Int(clamping: $0.number()), backoff: $0.once(in: 2) ? .linear : .exponential, initial: $0.duration(),
        maximum: $0.duration())
    }
    if once(in: 3) {
      request.repetition = RepeatRule(every: duration())
      if once(in: 2) { request.repetition?.missed = .all(limit: Int(clamping: number()), spread: duration()) }
    } else if once(in: 4) {
      request.repetition = RepeatRule(.cron(CronRule("0 3 29 2 *", timeZone: "Europe/Berlin")))
    } else if once(in: 4) {
      request.event = EventTrigger("e", debounce: duration())
    }
    if once(in: 3) {
      request.uniqueKey = String(repeating: "k", count: index(below: 300))
      request.onConflict = ConflictPolicy.allCases.randomElement(using: &generator) ?? .keep
      request.uniqueWindow = maybe { $0.duration() }
    }
    return request
  }

  /// A report whose every number may be extreme.
  mutating func report() -> RunReport {
    var report = RunReport()
    report.retryAfter = maybe { $0.duration() }
    report.began = maybe { $0.time() }
    report.handlerTime = maybe { $0.duration() }
    report.cpuTime = maybe { $0.duration() }
    report.peakMemory = maybe { Int(clamping: $0.number()) }
    report.progress = maybe { RunProgress(completed: UInt64(bitPattern: $0.number()), total: UInt64(bitPattern: $0.number())) }
    report.progress?.unit = maybe { _ in "files" }
    func count() -> UInt64 { UInt64(bitPattern: number()) }
    report.work =
      once(in: 2)
      ? nil
      : RunWork(itemsAttempted: count(), itemsCompleted: count(), itemsFailed: count(), bytesIn: count(), bytesOut: count())
    return report
  }

  mutating func ending() -> RunEnding {
    let results: [TaskResult] = [.success, .noop, .snooze, .retry, .failure, .outOfRange(.min), .outOfRange(.max)]
    return once(in: 8) ? .crashed : .returned(results.randomElement(using: &generator) ?? .success, stop: nil)
  }

  /// Overwrites eight bytes of a message somewhere behind its first three, so that it still begins as one.
  mutating func deface(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count > 11 else { return bytes }
    var bytes = bytes
    let place = 3 + index(below: bytes.count - 11)
    withUnsafeBytes(of: number().littleEndian) { bytes.replaceSubrange(place..<place + 8, with: $0) }
    return bytes
  }
}
