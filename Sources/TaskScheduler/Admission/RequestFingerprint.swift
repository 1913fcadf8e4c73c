import TaskModel

/// A hash of a submission's content: equal for equal content, on every machine and in every version.
///
/// Each field is written with its number and length, so different contents never write the same bytes.
struct RequestFingerprint {
  private var hash = StableHash()
  var value: UInt64 { hash.value }

  /// Hashes everything submitted except the idempotency key, a time computed from a delay, which differs each time the delay is submitted,
  /// and the trace: a client that sends a submission again may do so in another span.
  init(of request: TaskRequest) {
    add(1, request.identifier.rawValue)
    add(2, request.payload)
    if request.clock == .wall { add(3, request.earliestBegin?.unixMilliseconds) }
    add(4, request.clock.rawValue)
    add(5, Int64(request.priority))
    add(6, request.uniqueKey)
    add(7, request.onConflict.rawValue)
    add(8, request.uniqueWindow?.wholeMilliseconds)
    add(9, request.deadline?.unixMilliseconds)
    add(request.gates)
    if let retry = request.retry {
      add(20, Int64(retry.attempts))
      add(21, retry.backoff.rawValue)
      add(22, retry.initial.wholeMilliseconds)
      add(23, retry.maximum.wholeMilliseconds)
    }
    if let rule = request.repetition { add(rule) }
    if let event = request.event {
      add(40, event.name)
      add(41, event.debounce.wholeMilliseconds)
    }
    for dependency in request.after {
      switch dependency.predecessor {
      case .request(let id): add(50, id.description)
      case .position(let position): add(51, Int64(position))
      }
      add(52, dependency.onFailure.rawValue)
    }
    for tag in request.tags { add(60, tag) }
    if request.isPaced { add(61, Int64(1)) }
    add(62, request.delay?.wholeMilliseconds)
    if request.jitter != .zero { add(63, request.jitter.wholeMilliseconds) }
  }

  private mutating func add(_ gates: RunConstraints) {
    add(10, Int64(gates.conditions.rawValue))
    add(11, gates.onLostCondition.rawValue)
    add(12, gates.window)
    add(13, gates.concurrencyKey)
    for (name, amount) in gates.resources.sorted(by: { $0.key < $1.key }) {
      add(14, name)
      add(15, Int64(amount))
    }
    add(16, gates.flex.wholeMilliseconds)
    if gates.wakes { add(17, Int64(1)) }
    add(18, gates.prefer)
  }

  private mutating func add(_ rule: RepeatRule) {
    switch rule.schedule {
    case .every(let interval): add(30, interval.wholeMilliseconds)
    case .event: add(31, "event")
    case .cron(let cron):
      add(32, cron.expression)
      add(33, cron.timeZone)
      add(34, cron.daylight.gap.rawValue)
      add(35, cron.daylight.repeated.rawValue)
    }
    add(36, rule.missed.name)
    if case .all(let limit, let spread) = rule.missed {
      add(37, Int64(limit))
      add(38, spread.wholeMilliseconds)
    }
  }

  private mutating func add(_ field: UInt8, _ text: String?) { if let text { add(field, Array(text.utf8)) } }

  private mutating func add(_ field: UInt8, _ number: Int64?) {
    guard let number else { return }
    add(field, withUnsafeBytes(of: number.littleEndian) { Array($0) })
  }

  private mutating func add(_ field: UInt8, _ bytes: [UInt8]) {
    hash.mix(field)
    hash.mix(UInt32(truncatingIfNeeded: bytes.count))
    hash.mix(bytes)
  }
}
