/// A pending request as its plugin sees it.
public struct PendingRequest: Sendable, Hashable {
  /// The id of the request.
  public var id: RequestID
  /// The task identifier.
  public var identifier: TaskIdentifier
  /// The machine conditions that the request requires.
  public var conditions: Conditions
  /// The submitted earliest start; nil means immediately.
  public var earliestBegin: WallTime?
  /// The effective earliest start, which is later after a retry.
  public var nextStart: WallTime
  /// The number of the next run: 1 before the first.
  public var attempt: Int
  /// The submitted payload; at most ``Limits/payloadBytes``.
  public var payload: [UInt8]

  /// Creates a request.
  public init(
    id: RequestID, identifier: TaskIdentifier, conditions: Conditions = [], earliestBegin: WallTime? = nil, nextStart: WallTime,
    attempt: Int = 1, payload: [UInt8] = []
  ) {
    self.id = id
    self.identifier = identifier
    self.conditions = conditions
    self.earliestBegin = earliestBegin
    self.nextStart = nextStart
    self.attempt = attempt
    self.payload = payload
  }

  /// Creates a request from the fields of the record that a plugin sees.
  public init(_ record: RequestRecord) {
    self.init(
      id: record.id, identifier: record.request.identifier, conditions: record.request.conditions,
      earliestBegin: record.request.earliestBegin, nextStart: record.due, attempt: record.attempt, payload: record.request.payload)
  }
}
