import CTaskHost
import TaskModel

extension TaskRequest {
  /// Copies what a plugin submits. Throws `invalid`, `tooBig`, `unsupported`.
  init(borrowed pointer: UnsafePointer<taskhost_request>?) throws(CallFailure) {
    let raw = try Borrowed.structure(pointer, named: "request", empty: taskhost_request(), first: taskhost_request.firstSize)
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "reserved is \(raw.reserved); it must be 0") }
    guard raw.reserved2 == 0 else { throw CallFailure(.invalid, "reserved2 is \(raw.reserved2); it must be 0") }
    if let (_, sentence) = RequestField.misfit(among: raw.given, name: \.rawValue) { throw CallFailure(.invalid, sentence) }
    let payloadBytes = Int(clamping: raw.payload_length)
    do { try RequestField.payload.check(payloadBytes: payloadBytes) } catch { throw CallFailure(error) }
    let begin = raw.earliest_begin_unix_ms
    let isPaced = begin == Int64(TASKHOST_BEGIN_PACED)
    self.init(
      identifier: try Borrowed.identifier(raw.identifier),
      payload: try Borrowed.bytes(raw.payload, payloadBytes, named: "payload", limit: Limits.payloadBytes),
      earliestBegin: begin == 0 || isPaced ? nil : WallTime(unixMilliseconds: begin),
      conditions: Conditions(rawValue: raw.conditions),
      priority: Int(raw.priority),
      uniqueKey: try Self.text(raw.unique_key, .uniqueKey),
      onConflict: try Self.named(raw.on_conflict, .onConflict),
      retry: try Self.retry(raw.retry),
      repetition: try raw.repetition(),
      tags: try Self.tags(raw.tags, Int(raw.tags_count)),
      deadline: raw.deadline_unix_ms == 0 ? nil : WallTime(unixMilliseconds: raw.deadline_unix_ms),
      event: try raw.trigger(),
      after: try Self.predecessors(raw.after, Int(raw.after_count)),
      idempotencyKey: try Self.text(raw.idempotency_key, .idempotencyKey),
      uniqueWindow: raw.unique_window_ms == 0 ? nil : .milliseconds(raw.unique_window_ms))
    self.isPaced = isPaced
    if let text = try Self.text(raw.traceparent, .traceparent) {
      do throws(RequestRefusal) { traceparent = try TraceParent(field: text) } catch { throw CallFailure(error) }
    }
    jitter = .milliseconds(raw.jitter_ms)
    if raw.delay_ms > 0 { delay = .milliseconds(raw.delay_ms) }
    guard raw.wake <= 1 else { throw CallFailure(.invalid, "wake is \(raw.wake), neither 0 nor 1") }
    gates.wakes = raw.wake == 1
    try readGates(raw)
    do { try check() } catch { throw CallFailure(error) }
  }

  private mutating func readGates(_ raw: taskhost_request) throws(CallFailure) {
    gates.flex = .milliseconds(raw.flex_ms)
    gates.window = try Self.text(raw.window, .window)
    gates.concurrencyKey = try Self.text(raw.concurrency_key, .concurrencyKey)
    gates.prefer = try Self.text(raw.prefer, .prefer)
    gates.resources = try Self.resources(raw.resources, Int(raw.resources_count))
    guard Int(raw.on_lost_condition) != TASKHOST_LOST_CONDITION_PRESET else { return }
    let policy: LostConditionPolicy = try Self.named(raw.on_lost_condition, .onLostCondition)
    (onLostCondition, gates.onLostCondition) = (policy, policy)
  }

  /// Longer texts than a request may have are read so far that the refusal can say how long they are.
  fileprivate static func text(_ pointer: UnsafePointer<CChar>?, _ field: RequestField, part: String = "") throws(CallFailure) -> String? {
    try Borrowed.optionalText(pointer, named: field.rawValue + part, limit: 4 * Limits.keyBytes)
  }

  fileprivate static func named<Value: ContractCode>(
    _ code: UInt32, _ field: RequestField, part: String = ""
  ) throws(CallFailure) -> Value {
    guard let value = Value(code: code) else { throw CallFailure(.invalid, "\(field.rawValue)\(part) \(code) is not defined") }
    return value
  }

  private static func retry(_ pointer: UnsafePointer<taskhost_retry>?) throws(CallFailure) -> RetryPolicy? {
    guard pointer != nil else { return nil }
    let raw = try Borrowed.structure(pointer, named: "retry", empty: taskhost_retry())
    guard raw.reserved == 0 else { throw CallFailure(.invalid, "retry.reserved is \(raw.reserved); it must be 0") }
    var policy = RetryPolicy()
    policy.backoff = try named(raw.backoff, .retry, part: RequestField.Retry.backoff.part)
    if raw.attempts > 0 { policy.attempts = Int(raw.attempts) }
    if raw.initial_ms > 0 { policy.initial = .milliseconds(raw.initial_ms) }
    if raw.maximum_ms > 0 { policy.maximum = .milliseconds(raw.maximum_ms) }
    return policy
  }

  private static func tags(_ pointer: UnsafePointer<UnsafePointer<CChar>?>?, _ count: Int) throws(CallFailure) -> [String] {
    var tags: [String] = []
    for (index, element) in try elements(pointer, count, .tags).enumerated() {
      guard let tag = try text(element, .tags, part: "[\(index)]") else { throw CallFailure(.invalid, "tags[\(index)] is NULL") }
      tags.append(tag)
    }
    return tags
  }

  private static func resources(_ pointer: UnsafePointer<taskhost_resource>?, _ count: Int) throws(CallFailure) -> [String: Int] {
    var resources: [String: Int] = [:]
    for (index, element) in try elements(pointer, count, .resources).enumerated() {
      guard let name = try text(element.name, .resources, part: "[\(index)].name") else {
        throw CallFailure(.invalid, "resources[\(index)].name is NULL")
      }
      guard resources.updateValue(Int(clamping: element.tokens), forKey: name) == nil else {
        throw CallFailure(.invalid, "resources[\(index)]: \"\(String(name.prefix(80)).escapingControlCharacters)\" is named twice")
      }
    }
    return resources
  }

  private static func predecessors(_ pointer: UnsafePointer<taskhost_predecessor>?, _ count: Int) throws(CallFailure) -> [Dependency] {
    var predecessors: [Dependency] = []
    for (index, element) in try elements(pointer, count, .after).enumerated() {
      guard element.reserved == 0 else { throw CallFailure(.invalid, "after[\(index)].reserved is \(element.reserved); it must be 0") }
      guard let text = try text(element.request, .after, part: "[\(index)].request") else {
        throw CallFailure(.invalid, "after[\(index)].request is NULL")
      }
      guard let id = RequestID(text) else {
        throw CallFailure(.invalid, "after[\(index)].request: \"\(String(text.prefix(80)).escapingControlCharacters)\" is not a request id")
      }
      predecessors.append(Dependency(.request(id), onFailure: try named(element.on_failure, .after, part: "[\(index)].on_failure")))
    }
    return predecessors
  }

  /// The elements of an array, not more than a request may have: a longer one is refused before any is read.
  private static func elements<Element>(
    _ pointer: UnsafePointer<Element>?, _ count: Int, _ field: RequestField
  ) throws(CallFailure) -> UnsafeBufferPointer<Element> {
    do { try field.check(elements: count) } catch { throw CallFailure(error) }
    guard pointer != nil || count == 0 else {
      throw CallFailure(.invalid, "\(field.rawValue) is NULL with \(field.rawValue)_count \(count)")
    }
    return UnsafeBufferPointer(start: pointer, count: count)
  }
}

extension taskhost_request {
  /// Bytes of the struct in version 1, which ends with `reserved`.
  fileprivate static let firstSize = 56

  /// The fields that are set, of those that exclude or need others.
  fileprivate var given: [RequestField] {
    let fields: [(RequestField, Bool)] = [
      (.earliestBeginUnix, earliest_begin_unix_ms != 0), (.delay, delay_ms != 0), (.every, every_ms != 0), (.cron, cron != nil),
      (.timeZone, time_zone != nil), (.daylightGap, daylight_gap != 0), (.daylightRepeat, daylight_repeat != 0), (.missed, missed != 0),
      (.missedLimit, missed_limit != 0), (.missedSpread, missed_spread_ms != 0), (.event, event != nil), (.watch, watch != nil),
      (.debounce, debounce_ms != 0),
      (.everyEvent, every_event != 0), (.uniqueKey, unique_key != nil), (.uniqueWindow, unique_window_ms != 0),
    ]
    return fields.filter(\.1).map(\.0)
  }

  fileprivate func trigger() throws(CallFailure) -> EventTrigger? {
    if let path = try Borrowed.optionalText(watch, named: RequestField.watch.rawValue, limit: 4 * Limits.pathBytes) {
      return EventTrigger(EventTrigger.filePrefix + path, debounce: .milliseconds(debounce_ms))
    }
    guard let name = try TaskRequest.text(event, .event) else { return nil }
    // Here only is it known that this is not a path.
    if let flaw = EventTrigger.flaw(of: name) { throw CallFailure(RequestField.event.refusal(flaw)) }
    return EventTrigger(name, debounce: .milliseconds(debounce_ms))
  }

  fileprivate func repetition() throws(CallFailure) -> RepeatRule? {
    guard every_event <= 1 else { throw CallFailure(.invalid, "every_event is \(every_event), neither 0 nor 1") }
    let policy = try missedPolicy()
    if every_ms > 0 { return RepeatRule(.every(.milliseconds(every_ms)), missed: policy) }
    if let expression = try TaskRequest.text(cron, .cron) {
      let daylight = DaylightPolicy(
        gap: try TaskRequest.named(daylight_gap, .daylightGap), repeated: try TaskRequest.named(daylight_repeat, .daylightRepeat))
      let zone = try TaskRequest.text(time_zone, .timeZone)
      // An empty one would stand for the machine's.
      if let zone { do { try RequestField.timeZone.check(key: zone) } catch { throw CallFailure(error) } }
      return RepeatRule(.cron(CronRule(expression, timeZone: zone ?? "", daylight: daylight)), missed: policy)
    }
    return every_event == 1 ? RepeatRule(.event) : nil
  }

  private func missedPolicy() throws(CallFailure) -> MissedPolicy {
    guard Int(missed) != TASKHOST_MISSED_ALL else {
      return .all(
        limit: missed_limit == 0 ? MissedPolicy.presetLimit : Int(missed_limit),
        spread: missed_spread_ms == 0 ? MissedPolicy.presetSpread : .milliseconds(missed_spread_ms))
    }
    for (field, value) in [(RequestField.missedLimit, UInt64(missed_limit)), (.missedSpread, missed_spread_ms)] where value > 0 {
      throw CallFailure(field.refusal("needs missed to be TASKHOST_MISSED_ALL"))
    }
    switch Int(missed) {
    case TASKHOST_MISSED_LATEST: return .latest
    case TASKHOST_MISSED_SKIP: return .skip
    default: throw CallFailure(.invalid, "missed \(missed) is not defined")
    }
  }
}
