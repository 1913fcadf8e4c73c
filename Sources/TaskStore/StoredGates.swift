import Foundation
import TaskModel

/// Gates in their stored form: JSON with sorted names and without defaults, so that equal gates have equal texts. The text is empty for no
/// gates.
struct StoredGates: Codable {
  var conditions: UInt32?
  var finish: Bool?
  var window: String?
  var key: String?
  var tenant: String?
  var resources: [String: Int]?
  var flex: Int64?
  var late: Bool?
  var paused: Bool?
  var wake: Bool?
  var prefer: String?
  /// The host of the last run.
  var last: String?
  /// The number of a pause.
  var pause: Int64?

  static func text(of gates: RunConstraints) throws -> String {
    guard gates != .none else { return "" }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(StoredGates(gates)), as: UTF8.self)
  }

  static func gates(_ text: String) throws -> RunConstraints {
    text.isEmpty ? .none : try StoredJSON.decode(StoredGates.self, from: text).gates
  }

  init(_ gates: RunConstraints) {
    conditions = gates.conditions.isEmpty ? nil : gates.conditions.rawValue
    finish = gates.onLostCondition == .finish ? true : nil
    window = gates.window
    key = gates.concurrencyKey
    tenant = gates.tenant
    resources = gates.resources.isEmpty ? nil : gates.resources
    flex = gates.flex == .zero ? nil : gates.flex.wholeMilliseconds
    late = gates.isPastDeadline ? true : nil
    paused = gates.isPaused ? true : nil
    wake = gates.wakes ? true : nil
    prefer = gates.prefer
    last = gates.lastHost
    pause = gates.pause?.number
  }

  var gates: RunConstraints {
    var gates = RunConstraints(
      conditions: Conditions(rawValue: conditions ?? 0), onLostCondition: finish == true ? .finish : .stop, window: window,
      concurrencyKey: key, resources: resources ?? [:], flex: .milliseconds(flex ?? 0))
    gates.isPastDeadline = late == true
    gates.isPaused = paused == true
    gates.wakes = wake == true
    (gates.prefer, gates.lastHost) = (prefer, last)
    gates.tenant = tenant
    gates.pause = pause.map { PauseID($0) }
    return gates
  }
}

/// Rarely used fields of a request, as JSON in one column; NULL for requests without them.
struct StoredOptions: Codable, Equatable {
  var gates: String?
  var cron: Cron?
  var missed: Missed?
  var event: Event?
  var after: [After]?
  var idempotencyKey: String?
  var uniqueWindow: Int64?
  var traceparent: String?
  var jitter: Int64?
  var owner: String?
  var untold: Bool?

  struct Cron: Codable, Equatable {
    var expression, zone, gap, repeated: String
  }

  struct Missed: Codable, Equatable {
    var policy: String
    var limit: Int?
    var spread: Int64?
  }

  struct Event: Codable, Equatable {
    var debounce: Int64
  }

  struct After: Codable, Equatable {
    var request: Int64
    var onFailure: String
  }

  /// The options of a request; nil if it has none.
  static func text(of request: TaskRequest) throws -> String? {
    guard request.hasOptions else { return nil }
    let options = try StoredOptions(request)
    return options == StoredOptions() ? nil : try StoredJSON.encode(options)
  }

  private init() {}

  private init(_ request: TaskRequest) throws {
    let text = try StoredGates.text(of: request.gates)
    gates = text.isEmpty ? nil : text
    if let rule = request.repetition {
      if case .cron(let cron) = rule.schedule {
        self.cron = Cron(
          expression: cron.expression, zone: cron.timeZone, gap: cron.daylight.gap.rawValue, repeated: cron.daylight.repeated.rawValue)
      }
      switch rule.missed {
      case .latest: missed = nil
      case .skip: missed = Missed(policy: rule.missed.name)
      case .all(let limit, let spread): missed = Missed(policy: rule.missed.name, limit: limit, spread: spread.wholeMilliseconds)
      }
    }
    event = request.event.flatMap { $0.debounce == .zero ? nil : Event(debounce: $0.debounce.wholeMilliseconds) }
    let edges = request.after.compactMap { edge -> After? in
      guard case .request(let id) = edge.predecessor else { return nil }
      return After(request: id.sequence, onFailure: edge.onFailure.rawValue)
    }
    after = edges.isEmpty ? nil : edges
    idempotencyKey = request.idempotencyKey
    uniqueWindow = request.uniqueWindow?.wholeMilliseconds
    traceparent = request.traceparent?.description
    jitter = request.jitter == .zero ? nil : request.jitter.wholeMilliseconds
    owner = request.owner?.rawValue
    untold = request.isUntold ? true : nil
  }

  /// The trace in the options of a request; nil for none.
  static func traceparent(in text: String) throws -> TraceParent? {
    // Most options name none, and this is asked for each run.
    guard text.contains("\"traceparent\"") else { return nil }
    return try StoredJSON.decode(StoredOptions.self, from: text).traceparent.flatMap { TraceParent($0) }
  }

  /// Adds the options to a request whose other columns were already read.
  ///
  /// - Parameters:
  ///   - repeats: The column with the kind of repetition.
  ///   - eventName: The column with the event's name.
  static func apply(
    _ text: String?, to request: inout TaskRequest, repeats: StoredRepetition, every: Int64?, eventName: String?, origin: UInt64
  ) throws {
    let options = try text.map { try StoredJSON.decode(StoredOptions.self, from: $0) } ?? StoredOptions()
    if let gates = options.gates { request.gates = try StoredGates.gates(gates) }
    let missed = try options.missed.map(Self.policy) ?? .latest
    switch repeats {
    case .none: request.repetition = nil
    case .every: request.repetition = RepeatRule(.every(.milliseconds(every ?? 0)), missed: missed)
    case .event: request.repetition = RepeatRule(.event, missed: missed)
    case .cron:
      guard let cron = options.cron, let gap = DaylightPolicy.Gap(rawValue: cron.gap),
        let repeated = DaylightPolicy.Repeated(rawValue: cron.repeated)
      else { throw UnknownStoredValue(type: "cron rule", value: repeats.stored) }
      let rule = CronRule(cron.expression, timeZone: cron.zone, daylight: DaylightPolicy(gap: gap, repeated: repeated))
      request.repetition = RepeatRule(.cron(rule), missed: missed)
    }
    request.event = eventName.map { EventTrigger($0, debounce: .milliseconds(options.event?.debounce ?? 0)) }
    request.after = (options.after ?? []).map { edge in
      Dependency(
        .request(RequestID(sequence: edge.request, origin: origin)), onFailure: Dependency.FailurePolicy(rawValue: edge.onFailure) ?? .fail)
    }
    request.idempotencyKey = options.idempotencyKey
    request.uniqueWindow = options.uniqueWindow.map { .milliseconds($0) }
    request.traceparent = options.traceparent.flatMap { TraceParent($0) }
    request.jitter = .milliseconds(max(0, options.jitter ?? 0))
    request.owner = try options.owner.map { text in try TaskIdentifier(text) }
    request.isUntold = options.untold == true
  }

  private static func policy(_ missed: Missed) throws -> MissedPolicy {
    switch missed.policy {
    case "latest": .latest
    case "skip": .skip
    case "all": .all(limit: StoredNumber.missedRuns(missed.limit ?? 1), spread: .milliseconds(missed.spread ?? 0))
    default: throw UnknownStoredValue(type: "missed-run policy \(missed.policy)", value: 0)
    }
  }
}

/// The stored kind of a request's repetition.
enum StoredRepetition: StoredValue {
  case none, every, cron, event

  init(_ rule: RepeatRule?) {
    switch rule?.schedule {
    case nil: self = .none
    case .every: self = .every
    case .cron: self = .cron
    case .event: self = .event
    }
  }

  var stored: Int64 {
    switch self {
    case .none: 0
    case .every: 10
    case .cron: 20
    case .event: 30
    }
  }
}

extension TaskRequest {
  /// Whether the request has any rarely used field.
  fileprivate var hasOptions: Bool {
    repetition != nil || event != nil || idempotencyKey != nil || uniqueWindow != nil || !after.isEmpty || gates != .none
      || traceparent != nil || jitter != .zero || owner != nil || isUntold
  }
}
