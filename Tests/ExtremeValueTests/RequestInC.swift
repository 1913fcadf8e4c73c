import CTaskHost
import TaskModel

/// A request as a plugin in C would write it, with the memory that it points to.
final class RequestInC {
  private var raw = taskhost_request()
  private var texts: [UnsafeMutablePointer<CChar>] = []
  private let payload: UnsafeMutableBufferPointer<UInt8>
  private let retry = UnsafeMutablePointer<taskhost_retry>.allocate(capacity: 1)
  private let after: UnsafeMutableBufferPointer<taskhost_predecessor>
  private let tags: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>
  private let resources: UnsafeMutableBufferPointer<taskhost_resource>

  init(_ request: TaskRequest) {
    payload = .allocate(capacity: request.payload.count)
    _ = payload.initialize(from: request.payload)
    after = .allocate(capacity: request.after.count)
    tags = .allocate(capacity: request.tags.count)
    resources = .allocate(capacity: request.gates.resources.count)
    raw.struct_size = UInt32(MemoryLayout<taskhost_request>.size)
    raw.identifier = text(request.identifier.rawValue)
    raw.payload = UnsafeRawPointer(payload.baseAddress)
    raw.payload_length = UInt64(payload.count)
    raw.conditions = request.conditions.rawValue
    raw.unique_key = text(request.uniqueKey)
    raw.on_conflict = UInt32(ConflictPolicy.allCases.firstIndex(of: request.onConflict) ?? 0)
    raw.priority = Int32(clamping: request.priority)
    raw.idempotency_key = text(request.idempotencyKey)
    raw.traceparent = text(request.traceparent?.description)
    raw.unique_window_ms = milliseconds(request.uniqueWindow)
    setTimes(request)
    setRules(request)
    setLists(request)
  }

  deinit {
    for text in texts { text.deallocate() }
    payload.deallocate()
    retry.deallocate()
    after.deallocate()
    tags.deallocate()
    resources.deallocate()
  }

  func borrow<Result>(_ body: (UnsafePointer<taskhost_request>) -> Result) -> Result {
    withExtendedLifetime(self) { withUnsafePointer(to: raw, body) }
  }

  private func setTimes(_ request: TaskRequest) {
    raw.earliest_begin_unix_ms = request.isPaced ? Int64(TASKHOST_BEGIN_PACED) : request.earliestBegin?.unixMilliseconds ?? 0
    raw.deadline_unix_ms = request.deadline?.unixMilliseconds ?? 0
    raw.delay_ms = milliseconds(request.delay)
    raw.flex_ms = milliseconds(request.gates.flex)
    raw.jitter_ms = milliseconds(request.jitter)
    raw.wake = request.gates.wakes ? 1 : 0
    raw.event = request.event?.path == nil ? text(request.event?.name) : nil
    raw.watch = text(request.event?.path)
    raw.debounce_ms = milliseconds(request.event?.debounce)
    raw.window = text(request.gates.window)
    switch request.repetition?.schedule {
    case .every(let interval): raw.every_ms = milliseconds(interval)
    case .cron(let cron):
      raw.cron = text(cron.expression)
      raw.time_zone = cron.timeZone.isEmpty ? nil : text(cron.timeZone)
      raw.daylight_gap = UInt32(DaylightPolicy.Gap.allCases.firstIndex(of: cron.daylight.gap) ?? 0)
      raw.daylight_repeat = UInt32(DaylightPolicy.Repeated.allCases.firstIndex(of: cron.daylight.repeated) ?? 0)
    case .event: raw.every_event = 1
    case nil: break
    }
    switch request.repetition?.missed {
    case .all(let limit, let spread):
      raw.missed = UInt32(TASKHOST_MISSED_ALL)
      raw.missed_limit = UInt32(clamping: limit)
      raw.missed_spread_ms = milliseconds(spread)
    case .skip: raw.missed = UInt32(TASKHOST_MISSED_SKIP)
    case .latest, nil: break
    }
  }

  private func setRules(_ request: TaskRequest) {
    raw.concurrency_key = text(request.gates.concurrencyKey)
    raw.prefer = text(request.gates.prefer)
    switch request.onLostCondition {
    case .stop: raw.on_lost_condition = UInt32(TASKHOST_LOST_CONDITION_STOP)
    case .finish: raw.on_lost_condition = UInt32(TASKHOST_LOST_CONDITION_FINISH)
    case nil: break
    }
    guard let policy = request.retry else { return }
    retry.initialize(
      to: taskhost_retry(
        struct_size: UInt32(MemoryLayout<taskhost_retry>.size), attempts: UInt32(clamping: policy.attempts),
        backoff: UInt32(policy.backoff == .linear ? TASKHOST_BACKOFF_LINEAR : TASKHOST_BACKOFF_EXPONENTIAL), reserved: 0,
        initial_ms: milliseconds(policy.initial), maximum_ms: milliseconds(policy.maximum)))
    raw.retry = UnsafePointer(retry)
  }

  private func setLists(_ request: TaskRequest) {
    _ = tags.initialize(from: request.tags.map { text($0) })
    _ = after.initialize(
      from: request.after.map { dependency in
        guard case .request(let id) = dependency.predecessor else { return taskhost_predecessor() }
        let onFailure = dependency.onFailure == .fail ? TASKHOST_ON_FAILURE_FAIL : TASKHOST_ON_FAILURE_IGNORE
        return taskhost_predecessor(request: text(id.description), on_failure: UInt32(onFailure), reserved: 0)
      })
    _ = resources.initialize(
      from: request.gates.resources.map { taskhost_resource(name: text($0.key), tokens: UInt64(clamping: $0.value)) })
    (raw.tags, raw.tags_count) = (UnsafePointer(tags.baseAddress), UInt32(tags.count))
    (raw.after, raw.after_count) = (UnsafePointer(after.baseAddress), UInt32(after.count))
    (raw.resources, raw.resources_count) = (UnsafePointer(resources.baseAddress), UInt32(resources.count))
  }

  private func text(_ text: String?) -> UnsafePointer<CChar>? {
    guard let text else { return nil }
    let bytes = text.utf8CString
    let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count)
    for (index, byte) in bytes.enumerated() { copy[index] = byte }
    texts.append(copy)
    return UnsafePointer(copy)
  }

  private func milliseconds(_ duration: Duration?) -> UInt64 { UInt64(clamping: duration?.wholeMilliseconds ?? 0) }
}
