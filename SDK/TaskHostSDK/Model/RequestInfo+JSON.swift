import FoundationEssentials

/// The host's objects, with the members that `taskhost tasks show --json` has. Members that the SDK does not know are left alone.
private struct HostRequest: Decodable {
  struct Retry: Decodable { let attempts: Int, backoff: String, initial_ms: Int64, maximum_ms: Int64 }
  struct Predecessor: Decodable { let request: String, on_failure: String }

  let id: String, identifier: String, state: RequestInfo.State, attempt: Int
  let due_unix_ms: Int64?, submitted_unix_ms: Int64, started_unix_ms: Int64?, ended_unix_ms: Int64?
  let blocked_by: String?, last_outcome: RunInfo.Outcome?, last_message: String?, watch: String?
  let priority: Int?, conditions: [String]?, on_lost_condition: String?, window: String?, concurrency_key: String?
  let prefer: String?
  let resources: [String: Int]?, flex_ms: Int64?, jitter_ms: Int64?, wake: Bool?, tags: [String]?
  let unique_key: String?, on_conflict: String?, unique_window_ms: Int64?, idempotency_key: String?
  let earliest_begin_unix_ms: Int64?, deadline_unix_ms: Int64?, event: String?, debounce_ms: Int64?
  let every_ms: Int64?, cron: String?, time_zone: String?, daylight_gap: String?, daylight_repeat: String?, every_event: Bool?
  let missed: String?, missed_limit: Int?, missed_spread_ms: Int64?
  let retry: Retry?, after: [Predecessor]?, payload_base64: String?, traceparent: String?
}

private struct HostRun: Decodable {
  let id: String, request: String, identifier: String, attempt: Int, outcome: RunInfo.Outcome
  let started_unix_ms: Int64, ended_unix_ms: Int64, duration_ms: Int64?, message: String?
}

private struct HostExplanation: Decodable {
  let gates: [String], would_run_if: [String], earliest_start_unix_ms: Int64?, place: Int?
}

private struct HostConditions: Decodable {
  struct Condition: Decodable { let name: String, holds: Bool, since_unix_ms: Int64, observed: String, known: Bool }
  let conditions: [Condition]
}

extension RequestInfo {
  init(json: [UInt8]) throws {
    let read = try JSON.decode(HostRequest.self, from: json)
    id = read.id
    state = read.state
    request = TaskRequest(read, json)
    due = read.due_unix_ms.map { Date(unixMilliseconds: $0) }
    submitted = Date(unixMilliseconds: read.submitted_unix_ms)
    attempt = read.attempt
    blockedBy = read.blocked_by
    started = read.started_unix_ms.map { Date(unixMilliseconds: $0) }
    ended = read.ended_unix_ms.map { Date(unixMilliseconds: $0) }
    lastOutcome = read.last_outcome
    lastMessage = read.last_message
    watchedFile = read.watch
    self.json = json
  }
}

extension RunInfo {
  init(json: [UInt8]) throws {
    let read = try JSON.decode(HostRun.self, from: json)
    id = read.id
    requestID = read.request
    identifier = read.identifier
    attempt = read.attempt
    outcome = read.outcome
    started = Date(unixMilliseconds: read.started_unix_ms)
    ended = Date(unixMilliseconds: read.ended_unix_ms)
    duration = .milliseconds(read.duration_ms ?? 0)
    message = read.message
    self.json = json
  }
}

extension RequestExplanation {
  init(json: [UInt8]) throws {
    let read = try JSON.decode(HostExplanation.self, from: json)
    reasons = read.gates
    wouldRunIf = read.would_run_if
    earliestStart = read.earliest_start_unix_ms.map { Date(unixMilliseconds: $0) }
    place = read.place
    self.json = json
  }
}

extension ConditionReading {
  /// The conditions of the machine.
  static func all(json: [UInt8]) throws -> [ConditionReading] {
    try JSON.decode(HostConditions.self, from: json).conditions.map {
      ConditionReading(
        name: $0.name, condition: Conditions(names: [$0.name]), holds: $0.holds, since: Date(unixMilliseconds: $0.since_unix_ms),
        observed: $0.observed, isKnown: $0.known)
    }
  }
}

extension Conditions {
  private static let named: [String: Conditions] = [
    "network": .network, "unmetered": .unmetered, "power": .power, "idle": .idle, "battery_not_low": .batteryNotLow,
    "storage_not_low": .storageNotLow,
  ]

  fileprivate init(names: [String]) { self = names.reduce(into: []) { $0.formUnion(Self.named[$1] ?? []) } }
}

extension ConflictPolicy {
  fileprivate init(name: String?) {
    self =
      switch name {
      case "keep": .keep
      case "replace": .replace
      case "update": .update
      case "append": .append
      default: .none
      }
  }
}

extension TaskRequest {
  fileprivate init(_ read: HostRequest, _ json: [UInt8]) {
    let encoded = read.payload_base64.flatMap { Data(base64Encoded: $0) }
    let payload = JSON.member("payload", of: json).map { [UInt8]($0) } ?? encoded.map { [UInt8]($0) }
    self.init(
      identifier: read.identifier, payload: payload ?? [], earliestBegin: read.earliest_begin_unix_ms.map { Date(unixMilliseconds: $0) },
      uniqueKey: read.unique_key, onConflict: ConflictPolicy(name: read.on_conflict), conditions: Conditions(names: read.conditions ?? []))
    deadline = read.deadline_unix_ms.map { Date(unixMilliseconds: $0) }
    repetition = Repetition(read)
    flex = .milliseconds(read.flex_ms ?? 0)
    jitter = .milliseconds(read.jitter_ms ?? 0)
    wake = read.wake ?? false
    event = read.event
    watch = read.watch
    debounce = .milliseconds(read.debounce_ms ?? 0)
    after = (read.after ?? []).map { Predecessor($0.request, onFailure: $0.on_failure == "ignore" ? .ignore : .fail) }
    window = read.window
    priority = read.priority ?? 0
    retry = read.retry.map {
      Retry(
        attempts: $0.attempts, backoff: $0.backoff == "linear" ? .linear : .exponential, initial: .milliseconds($0.initial_ms),
        maximum: .milliseconds($0.maximum_ms))
    }
    onLostCondition = read.on_lost_condition.map { $0 == "finish" ? .finish : .stop }
    tags = read.tags ?? []
    resources = read.resources ?? [:]
    concurrencyKey = read.concurrency_key
    prefer = read.prefer
    idempotencyKey = read.idempotency_key
    uniqueWindow = read.unique_window_ms.map { .milliseconds($0) }
    traceparent = read.traceparent
  }
}

extension TaskRequest.Repetition {
  fileprivate init?(_ read: HostRequest) {
    let missed: TaskRequest.Missed =
      switch read.missed {
      case "skip": .skip
      case "all": .all(limit: read.missed_limit ?? 10, spread: .milliseconds(read.missed_spread_ms ?? 60_000))
      default: .latest
      }
    if let interval = read.every_ms {
      self = .every(.milliseconds(interval), missed: missed)
    } else if let cron = read.cron {
      let repeated: TaskRequest.Daylight.Repeated =
        switch read.daylight_repeat {
        case "last": .last
        case "both": .both
        default: .first
        }
      let daylight = TaskRequest.Daylight(gap: read.daylight_gap == "skip" ? .skip : .shift, repeated: repeated)
      self = .cron(cron, timeZone: read.time_zone, daylight: daylight, missed: missed)
    } else if read.every_event == true {
      self = .event
    } else {
      return nil
    }
  }
}
