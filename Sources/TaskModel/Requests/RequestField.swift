/// The fields of a request. The raw value is the field's name in JSON. `taskhost.h` and the SDK use the same names for the fields that a
/// plugin may set.
public enum RequestField: String, Sendable, CaseIterable {
  case identifier, payload, cron, missed, event, watch, deadline, priority, conditions, window, resources, after, retry, tags, traceparent
  case wake, prefer
  case payloadBase64 = "payload_base64"
  case delay = "delay_ms"
  case earliestBegin = "earliest_begin"
  case earliestBeginUnix = "earliest_begin_unix_ms"
  case deadlineUnix = "deadline_unix_ms"
  case every = "every_ms"
  case timeZone = "time_zone"
  case daylightGap = "daylight_gap"
  case daylightRepeat = "daylight_repeat"
  case missedLimit = "missed_limit"
  case missedSpread = "missed_spread_ms"
  case everyEvent = "every_event"
  case debounce = "debounce_ms"
  case flex = "flex_ms"
  case jitter = "jitter_ms"
  case onLostCondition = "on_lost_condition"
  case concurrencyKey = "concurrency_key"
  case uniqueKey = "unique_key"
  case onConflict = "on_conflict"
  case uniqueWindow = "unique_window_ms"
  case idempotencyKey = "idempotency_key"

  /// The members of ``retry``.
  public enum Retry: String, Sendable, CaseIterable {
    case attempts, backoff
    case initial = "initial_ms"
    case maximum = "maximum_ms"

    /// The member as a part of ``retry``.
    public var part: String { ".\(rawValue)" }
  }

  /// The members of an element of ``after``.
  public enum Predecessor: String, Sendable, CaseIterable {
    case request
    case onFailure = "on_failure"
  }

  /// The field's option of `taskhost submit`, without the dashes: its name without the unit, unless the option has a shorter word.
  public var option: String {
    switch self {
    case .delay: "after"
    case .earliestBegin, .earliestBeginUnix: "at"
    case .timeZone: "tz"
    case .event: "on-event"
    case .conditions: "requires"
    case .after: "follows"
    case .resources: "resource"
    case .uniqueKey: "key"
    case .tags: "tag"
    default: rawValue.split(separator: "_").filter { $0 != "unix" && $0 != "ms" }.joined(separator: "-")
    }
  }

  /// The fields, including this one, that say the same thing in different ways. A request has at most one. Empty if there are no
  /// alternatives.
  private var alternatives: [RequestField] {
    switch self {
    case .payload, .payloadBase64: [.payload, .payloadBase64]
    case .delay, .earliestBegin, .earliestBeginUnix: [.delay, .earliestBeginUnix, .earliestBegin]
    case .deadline, .deadlineUnix: [.deadline, .deadlineUnix]
    case .event, .watch: [.event, .watch]
    case .every, .cron, .everyEvent: [.every, .cron, .everyEvent]
    default: []
    }
  }

  /// The fields of which this one needs at least one; empty if it needs none.
  private var subjects: [RequestField] {
    switch self {
    case .everyEvent, .debounce: [.event, .watch]
    case .timeZone, .daylightGap, .daylightRepeat: [.cron]
    case .missed, .missedLimit, .missedSpread: [.every, .cron]
    case .uniqueWindow: [.uniqueKey]
    default: []
    }
  }

  /// The first error in a choice of fields, whatever their values; nil if there is none.
  ///
  /// - Parameter name: The submitter's name for a field.
  public static func misfit(
    among given: [RequestField], name: (RequestField) -> String
  ) -> (field: RequestField, sentence: String)? {
    for field in given {
      let alternatives = field.alternatives
      if alternatives.contains(where: { $0 != field && given.contains($0) }) {
        let chosen = alternatives.filter(given.contains)
        return (chosen[1], "\(name(chosen[0])) and \(name(chosen[1])) exclude each other: give one of them")
      }
      let subjects = field.subjects
      if !subjects.isEmpty, !subjects.contains(where: given.contains) {
        return (field, "\(name(field)) needs \(subjects.map(name).joined(separator: " or ")): add it, or leave \(name(field)) out")
      }
    }
    return nil
  }
}

// The checks that several fields share, with their messages.
extension RequestField {
  /// A refusal that names this field, or the part of it given by `part`: `[2]`, `.attempts`.
  public func refusal(_ flaw: String, part: String = "", code: RequestRefusal.Code = .invalid) -> RequestRefusal {
    RequestRefusal(code, "\(rawValue)\(part): \(flaw)", field: rawValue + part)
  }

  /// Refuses a number outside `range`.
  public func check<Number: BinaryInteger>(_ number: Number, in range: ClosedRange<Number>, part: String = "") throws(RequestRefusal) {
    guard range.contains(number) else {
      throw refusal("\(number) is outside of \(range.lowerBound) to \(range.upperBound)", part: part)
    }
  }

  /// Refuses a length of time outside `range`. The message uses milliseconds.
  public func check(
    _ length: Duration, in range: ClosedRange<Duration> = .zero...Limits.longestDuration, part: String = ""
  ) throws(RequestRefusal) {
    guard range.contains(length) else {
      let (low, high) = (range.lowerBound.wholeMilliseconds, range.upperBound.wholeMilliseconds)
      throw refusal("\(length.wholeMilliseconds) is outside of \(low) to \(high)", part: part)
    }
  }

  /// Refuses a key that is empty, too long, or contains a NUL, which ends a text in C. `printable` allows only ASCII: two spellings of one
  /// letter would be one key in Swift and two in a database.
  public func check(key: String, printable: Bool = false, part: @autoclosure () -> String = "") throws(RequestRefusal) {
    guard !key.isEmpty else { throw refusal("is empty: leave it out, or give it 1 to \(Limits.keyBytes) bytes", part: part()) }
    guard key.utf8.count <= Limits.keyBytes else {
      throw refusal("\(key.utf8.count) bytes, more than \(Limits.keyBytes): \(shortening)", part: part())
    }
    guard key.utf8.allSatisfy({ printable ? 0x20...0x7E ~= $0 : $0 != 0 }) else {
      throw refusal("it has \(printable ? "a character other than printable ASCII" : "a NUL character"): leave that out", part: part())
    }
  }

  /// What to do about a text that is too long: a key only has to be unique, a name has to be the one that others know.
  private var shortening: String {
    switch self {
    case .uniqueKey, .idempotencyKey, .concurrencyKey: "send a hash of it"
    default: "give a shorter one"
    }
  }

  /// Refuses a moment that RFC 3339 cannot write.
  public func check(_ time: WallTime?) throws(RequestRefusal) {
    guard let time, !WallTime.calendar.contains(time) else { return }
    throw refusal("lies outside of the years 1970 to 9999")
  }

  /// Refuses more elements of `tags`, `after` or `resources` than a request may have.
  public func check(elements count: Int) throws(RequestRefusal) {
    switch self {
    case .tags where count > Limits.tags: throw refusal("\(count) tags, more than \(Limits.tags): leave some out")
    case .resources where count > Limits.resources: throw refusal("\(count) resources, more than \(Limits.resources)")
    case .after where count > Limits.predecessors:
      throw refusal(
        "\(count) requests, more than \(Limits.predecessors): add a request that waits for some of them, and wait for that")
    default: return
    }
  }

  /// Refuses a payload of more than ``Limits/payloadBytes``.
  public func check(payloadBytes count: Int) throws(RequestRefusal) {
    guard count > Limits.payloadBytes else { return }
    throw refusal("\(count) bytes, more than \(Limits.payloadBytes): pass a file's path instead", code: .tooBig)
  }
}
