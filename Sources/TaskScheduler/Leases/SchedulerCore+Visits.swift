public import TaskModel

extension SchedulerCore {
  /// Takes requests of the fleet into the store, lets `change` do something to them, and removes them again, all before anything begins.
  func visit<Value>(
    _ visitors: FleetVisitors, _ transaction: any StoreTransaction, _ change: () throws -> Value
  ) throws -> FleetVisit<Value> {
    (visiting, draftsForFleet) = (Visiting(visitors), true)
    defer { (visiting, draftsForFleet) = (nil, false) }
    for visitor in visitors.taken {
      let id = visitor.record.id
      guard try transaction.request(id) == nil else { throw RequestRefusal(.conflict, "request \(id) has just changed: look again") }
      try arrive(visitor, transaction)
    }
    var guests: [RequestID] = []
    // Of one that is here, the host knows more than the database.
    for guest in visitors.seen where try transaction.request(guest.record.id) == nil {
      try guest.insert(transaction)
      guests.append(guest.record.id)
    }
    let value = try change()
    for id in guests { _ = try transaction.surrender(id) }
    let changed = try visitors.taken.compactMap { try leave($0.record.id, transaction) }
    let added = try visitors.drawn.compactMap { try leave($0, transaction) }
    turn.changes += 1
    return FleetVisit(value: value, changed: changed, added: added, keys: visiting?.keys ?? [:])
  }

  /// What a visit knows besides the requests in the store.
  struct Visiting {
    /// Ids of the fleet for the requests that the visit adds, last first.
    var drawn: [RequestID]
    /// What the idempotency keys of its submissions stand for.
    let known: [String: KnownSubmission]
    /// The idempotency keys of the requests that it has added.
    var keys: [RequestID: FleetSubmissionKey] = [:]

    init(_ visitors: FleetVisitors) { (drawn, known) = (visitors.drawn.reversed(), visitors.known) }
  }
}

/// Requests of the fleet that come to the scheduler for a change.
public struct FleetVisitors: Sendable {
  /// Those that the host has taken for it. They wait, or are dead letters.
  public var taken: [LeasedRequest]
  /// Those that the change looks at: predecessors, and holders of keys.
  public var seen: [LeasedRequest] = []
  /// Ids of the fleet, for requests that the change adds.
  public var drawn: [RequestID] = []
  /// What the idempotency keys of its submissions stand for.
  public var known: [String: KnownSubmission] = [:]

  /// Creates visitors of which none is only looked at.
  public init(_ taken: [LeasedRequest] = []) { self.taken = taken }
}

/// The idempotency key of a submission to the fleet.
public struct FleetSubmissionKey: Sendable, Hashable {
  /// The key.
  public let key: String
  /// A hash of what was submitted.
  public let fingerprint: UInt64
}

/// What a change has made of requests of the fleet.
public struct FleetVisit<Value: Sendable>: Sendable {
  /// The result of the change.
  public let value: Value
  /// The requests as they are to go back.
  public let changed: [SurrenderedRequest]
  /// The requests that the change has added.
  public let added: [SurrenderedRequest]
  /// The idempotency keys of those, if they have one.
  public let keys: [RequestID: FleetSubmissionKey]
}
