public import TaskHostSDK

/// A request as a plugin asked for it.
public struct SubmittedRequest: Sendable, Equatable, CustomStringConvertible {
  /// The task identifier.
  public let identifier: String
  /// The payload for the handler.
  public let payload: [UInt8]
  /// The earliest begin, in milliseconds since 1970 on the host's wall clock; `nil`: now.
  public let earliestBeginUnixMilliseconds: Int64?
  /// The request's unique name within its identifier.
  public let uniqueKey: String?
  /// What to do when a live request holds the unique key.
  public let onConflict: ConflictPolicy
  /// The conditions that the run requires.
  public let conditions: Conditions
  /// The least time before the run; `nil`: none.
  public let delay: Duration?
  /// The deadline, in milliseconds since 1970 on the host's wall clock; `nil`: none.
  public let deadlineUnixMilliseconds: Int64?
  /// When the request repeats; `nil`: it runs once.
  public let repetition: TaskRequest.Repetition?
  /// How much later than due a run may start.
  public let flex: Duration
  /// How much later than its times it may start, by a fixed share.
  public let jitter: Duration
  /// Whether it wakes a sleeping machine when it is due.
  public let wake: Bool
  /// The event that the request waits for; `nil`: none.
  public let event: String?
  /// The file that the request waits for a change of; `nil`: none. In a test, ``TestHost/changed(_:)`` stands for a change.
  public let watch: String?
  /// The time from the last event of a burst to the run.
  public let debounce: Duration
  /// The requests that must end first.
  public let after: [TaskRequest.Predecessor]
  /// The maintenance window that the request waits for; `nil`: none.
  public let window: String?
  /// −10 … 10; higher goes first.
  public let priority: Int
  /// How often and how soon the request is tried again; `nil`: as ``TestHostOptions`` say.
  public let retry: TaskRequest.Retry?
  /// What a run does when a condition is lost.
  public let onLostCondition: TaskRequest.LostCondition
  /// The tags.
  public let tags: [String]
  /// How many tokens a run takes of named resources.
  public let resources: [String: Int]
  /// Runs with the same key share a limit; `nil`: no key.
  public let concurrencyKey: String?
  /// The hosts of a fleet that get the request first; `nil`: all are the same.
  public let prefer: String?
  /// The key with which the submission counts once; `nil`: none.
  public let idempotencyKey: String?
  /// How long the unique key stays held; `nil`: while the request is live.
  public let uniqueWindow: Duration?
  /// The `traceparent` that it was submitted with.
  public let traceparent: String?

  /// The payload, decoded from JSON.
  ///
  /// - Throws: `DecodingError`.
  public func payload<Value: Decodable>(as type: Value.Type) throws -> Value { try TestJSON.decode(type, from: payload) }

  /// The identifier, the payload, and the other fields that were set.
  public var description: String {
    var text = "\(identifier) \(payload.shown)"
    if let earliestBeginUnixMilliseconds { text += ", not before \(earliestBeginUnixMilliseconds) ms" }
    if let uniqueKey { text += ", key \"\(uniqueKey)\" (\(onConflict))" }
    if !conditions.isEmpty { text += ", conditions \(conditions.names)" }
    if let delay { text += ", after \(delay)" }
    if let deadlineUnixMilliseconds { text += ", by \(deadlineUnixMilliseconds) ms" }
    if let repetition { text += ", repeats \(repetition)" }
    if let event { text += ", on event \"\(event)\"" }
    if let watch { text += ", on changes of \(watch)" }
    if !after.isEmpty { text += ", after \(after.map(\.requestID).joined(separator: ", "))" }
    if wake { text += ", wakes the machine" }
    if priority != 0 { text += ", priority \(priority)" }
    if !tags.isEmpty { text += ", tags \(tags.joined(separator: ", "))" }
    return text
  }
}

extension Conditions {
  static let all: Conditions = [.network, .unmetered, .power, .idle, .batteryNotLow, .storageNotLow]

  var names: String {
    let named: [(Conditions, String)] = [
      (.network, "network"), (.unmetered, "unmetered"), (.power, "power"), (.idle, "idle"), (.batteryNotLow, "battery not low"),
      (.storageNotLow, "storage not low"),
    ]
    return named.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}
