import CTaskHost

/// A request in its C form, with everything that it points to. It owns that memory; the pointers are valid while it lives.
final class CRequest {
  private(set) var value = taskhost_request()
  private var texts: [UnsafeMutablePointer<CChar>] = []
  private let payload: UnsafeMutableRawBufferPointer
  private var retry: UnsafeMutablePointer<taskhost_retry>?
  private let after: UnsafeMutableBufferPointer<taskhost_predecessor>
  private let tags: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>
  private let resources: UnsafeMutableBufferPointer<taskhost_resource>

  /// - Throws: `TASKHOST_EINVAL` for a text with a NUL byte, and for a number that would mean something else in C, where 0 says nothing.
  init(_ request: TaskRequest, earliestBegin: Int64) throws(TaskHostError) {
    payload = .allocate(byteCount: request.payload.count, alignment: 1)
    payload.copyBytes(from: request.payload)
    after = .allocate(capacity: request.after.count)
    tags = .allocate(capacity: request.tags.count)
    resources = .allocate(capacity: request.resources.count)
    after.initialize(repeating: taskhost_predecessor())
    tags.initialize(repeating: nil)
    resources.initialize(repeating: taskhost_resource())
    value.struct_size = UInt32(MemoryLayout<taskhost_request>.size)
    value.identifier = try text(request.identifier, "the request's identifier")
    value.payload = request.payload.isEmpty ? nil : UnsafeRawPointer(payload.baseAddress)
    value.payload_length = UInt64(request.payload.count)
    value.earliest_begin_unix_ms = earliestBegin
    value.conditions = request.conditions.rawValue
    value.on_conflict = request.onConflict.cValue
    value.traceparent = try text(request.traceparent, "the request's traceparent")
    value.unique_key = try text(request.uniqueKey, "the request's unique key")
    try setTimes(request)
    try setRun(request)
    try setLists(request)
  }

  deinit {
    for text in texts { text.deallocate() }
    payload.deallocate()
    retry?.deallocate()
    after.deallocate()
    tags.deallocate()
    resources.deallocate()
  }

  private func setTimes(_ request: TaskRequest) throws(TaskHostError) {
    value.deadline_unix_ms = request.deadline?.earliestBeginMilliseconds ?? 0
    // Without a time, a delay of nothing is what the request has anyway.
    value.delay_ms = request.delay?.millisecondsRoundedUp ?? 0
    value.flex_ms = request.flex.millisecondsRoundedUp
    value.jitter_ms = request.jitter.millisecondsRoundedUp
    value.wake = request.wake ? 1 : 0
    value.event = try text(request.event, "the request's event")
    value.watch = try text(request.watch, "the request's watch")
    value.debounce_ms = request.debounce.millisecondsRoundedUp
    value.window = try text(request.window, "the request's window")
    value.idempotency_key = try text(request.idempotencyKey, "the request's idempotency key")
    if let window = request.uniqueWindow { value.unique_window_ms = try milliseconds(window, "uniqueWindow") }
    switch request.repetition {
    case .every(let interval, let missed):
      value.every_ms = try milliseconds(interval, "the interval")
      try set(missed)
    case .cron(let expression, let zone, let daylight, let missed):
      value.cron = try text(expression, "the cron expression")
      value.time_zone = try text(zone, "the time zone")
      value.daylight_gap = UInt32(daylight.gap == .shift ? TASKHOST_GAP_SHIFT : TASKHOST_GAP_SKIP)
      value.daylight_repeat = daylight.repeated.cValue
      try set(missed)
    case .event: value.every_event = 1
    case nil: break
    }
  }

  private func set(_ missed: TaskRequest.Missed) throws(TaskHostError) {
    switch missed {
    case .latest: value.missed = UInt32(TASKHOST_MISSED_LATEST)
    case .skip: value.missed = UInt32(TASKHOST_MISSED_SKIP)
    case .all(let limit, let spread):
      value.missed = UInt32(TASKHOST_MISSED_ALL)
      value.missed_limit = try count(limit, "the limit of missed runs")
      value.missed_spread_ms = try milliseconds(spread, "the spread of missed runs")
    }
  }

  private func setRun(_ request: TaskRequest) throws(TaskHostError) {
    value.priority = Int32(clamping: request.priority)
    value.prefer = try text(request.prefer, "the request's preference")
    value.concurrency_key = try text(request.concurrencyKey, "the request's concurrency key")
    switch request.onLostCondition {
    case .stop: value.on_lost_condition = UInt32(TASKHOST_LOST_CONDITION_STOP)
    case .finish: value.on_lost_condition = UInt32(TASKHOST_LOST_CONDITION_FINISH)
    case nil: value.on_lost_condition = UInt32(TASKHOST_LOST_CONDITION_PRESET)
    }
    guard let policy = request.retry else { return }
    var raw = taskhost_retry()
    raw.struct_size = UInt32(MemoryLayout<taskhost_retry>.size)
    raw.attempts = try count(policy.attempts, "the number of attempts")
    raw.backoff = UInt32(policy.backoff == .linear ? TASKHOST_BACKOFF_LINEAR : TASKHOST_BACKOFF_EXPONENTIAL)
    raw.initial_ms = try milliseconds(policy.initial, "the first delay of a retry")
    raw.maximum_ms = try milliseconds(policy.maximum, "the longest delay of a retry")
    let pointer = UnsafeMutablePointer<taskhost_retry>.allocate(capacity: 1)
    pointer.initialize(to: raw)
    retry = pointer
    value.retry = UnsafePointer(pointer)
  }

  private func setLists(_ request: TaskRequest) throws(TaskHostError) {
    for (index, tag) in request.tags.enumerated() { tags[index] = try text(tag, "a tag") }
    for (index, predecessor) in request.after.enumerated() {
      after[index].request = try text(predecessor.requestID, "a predecessor's id")
      after[index].on_failure = UInt32(predecessor.onFailure == .fail ? TASKHOST_ON_FAILURE_FAIL : TASKHOST_ON_FAILURE_IGNORE)
    }
    for (index, resource) in request.resources.sorted(by: { $0.key < $1.key }).enumerated() {
      resources[index].name = try text(resource.key, "a resource's name")
      resources[index].tokens = UInt64(clamping: resource.value)
    }
    (value.tags, value.tags_count) = (tags.isEmpty ? nil : UnsafePointer(tags.baseAddress), UInt32(clamping: tags.count))
    (value.after, value.after_count) = (after.isEmpty ? nil : UnsafePointer(after.baseAddress), UInt32(clamping: after.count))
    value.resources = resources.isEmpty ? nil : UnsafePointer(resources.baseAddress)
    value.resources_count = UInt32(clamping: resources.count)
  }

  private func text(_ text: String?, _ what: String) throws(TaskHostError) -> UnsafePointer<CChar>? {
    guard let text else { return nil }
    let checked = try CStrings.checked(text, what)
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: checked.utf8.count + 1)
    for (index, byte) in checked.utf8.enumerated() { copy[index] = CChar(bitPattern: byte) }
    copy[checked.utf8.count] = 0
    texts.append(copy)
    return UnsafePointer(copy)
  }

  private func milliseconds(_ duration: Duration, _ what: String) throws(TaskHostError) -> UInt64 {
    guard duration > .zero else { throw Self.refusal("\(what) is \(duration); it must be longer than nothing") }
    return duration.millisecondsRoundedUp
  }

  private func count(_ number: Int, _ what: String) throws(TaskHostError) -> UInt32 {
    guard number > 0 else { throw Self.refusal("\(what) is \(number); it must be at least 1") }
    return UInt32(clamping: number)
  }

  private static func refusal(_ message: String) -> TaskHostError {
    TaskHostError(status: taskhost_status(TASKHOST_EINVAL), message: message)
  }
}

extension TaskRequest.Daylight.Repeated {
  fileprivate var cValue: UInt32 {
    switch self {
    case .first: UInt32(TASKHOST_REPEAT_FIRST)
    case .last: UInt32(TASKHOST_REPEAT_LAST)
    case .both: UInt32(TASKHOST_REPEAT_BOTH)
    }
  }
}
