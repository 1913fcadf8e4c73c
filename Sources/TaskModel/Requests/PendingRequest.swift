/// A request that waits for its run, as its plugin sees it.
public struct PendingRequest: Sendable, Hashable {
  /// Its id.
  public var id: RequestID
  /// Whose handler.
  public var identifier: TaskIdentifier
  /// What it needs of the machine.
  public var conditions: Conditions
  /// Not before, as it was submitted; nil: at once.
  public var earliestBegin: WallTime?
  /// The effective earliest start: after a retry, later than that.
  public var nextStart: WallTime
  /// 1 while it has not run yet.
  public var attempt: Int
  /// What was submitted; at most ``Limits/payloadBytes``.
  public var payload: [UInt8]

  /// A request as given.
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

  /// What of the record a plugin sees.
  public init(_ record: RequestRecord) {
    self.init(
      id: record.id, identifier: record.request.identifier, conditions: record.request.conditions,
      earliestBegin: record.request.earliestBegin, nextStart: record.due, attempt: record.attempt, payload: record.request.payload)
  }
}
