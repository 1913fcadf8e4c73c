public import TaskModel

extension SchedulerCore {
  /// Takes requests of the fleet into the store, lets `change` do something to them, and removes them again, all before anything begins.
  func visit<Value>(
    _ visitors: FleetVisitors, _ transaction: any StoreTransaction, _ change: () throws -> Value
  ) throws -> FleetVisit<Value> {
    (visiting, draftsForFleet) = (Visiting(visitors), true)
    defer { (visiting, draftsForFleet) = (nil, false) }
    let known = turn.events.count
    for visitor in visitors.taken {
      let id = visitor.record.id
      guard try transaction.request(id) == nil else { throw RequestRefusal(.conflict, "request \(id) has just changed: look again") }
      try yieldKey(to: visitor.record, transaction)
      try arrive(visitor, transaction)
    }
    var guests: [RequestID] = []
    for guest in visitors.seen {
      try yieldKey(to: guest.record, transaction)
      if var resident = try transaction.request(guest.record.id) {
        // Of its own, the host knows all but who holds the key.
        resident.request.uniqueKey = guest.record.request.uniqueKey
        try transaction.update(resident)
      } else {
        try guest.insert(transaction)
        guests.append(guest.record.id)
      }
    }
    let value = try change()
    var keys = FleetKeyMoves(held: visiting?.held ?? [])
    for visitor in visitors.taken + visitors.seen {
      guard let record = try transaction.request(visitor.record.id), !record.state.isFinal else { continue }
      let key = record.request.uniqueKey
      if key != visitor.record.request.uniqueKey { keys.moved.updateValue(key, forKey: record.id) }
    }
    for id in guests { _ = try transaction.surrender(id) }
    let changed = try visitors.taken.compactMap { try leave($0.record.id, transaction) }
    let added = try visitors.drawn.compactMap { try leave($0, transaction) }
    turn.changes += 1
    // Who hears of it before the database has it finds nothing there.
    let events = Array(turn.events[known...])
    turn.events.removeLast(events.count)
    return FleetVisit(value: value, changed: changed, added: added, keys: visiting?.keys ?? [:], moves: keys, events: events)
  }

  /// Changes a request of the fleet that the host holds. If its run has not begun, it goes back: by now, its time may be another one, or another
  /// host may be the right one.
  func changeHeld<Value>(
    _ id: RequestID, _ transaction: any StoreTransaction, _ change: () throws -> Value
  ) throws -> HeldChange<Value> {
    (visiting, draftsForFleet) = (Visiting(FleetVisitors(), areHeld: true), true)
    defer { (visiting, draftsForFleet) = (nil, false) }
    let value = try change()
    var result = HeldChange(value: value, keys: visiting?.held ?? [])
    guard var record = try transaction.request(id) else { return result }
    if record.state == .running {
      // As the next owner is to find it, if this host is lost: a loss is counted there.
      try record.apply(.released)
      (record.stopRequested, record.request.payload) = (nil, try transaction.submittedPayload(of: id))
      result.running = record
    } else {
      try surrender(id, transaction)
    }
    return result
  }

  /// Takes the unique key of `record` from one that the host runs and that had the key before: the database knows who has it now.
  private func yieldKey(to record: RequestRecord, _ transaction: any StoreTransaction) throws {
    guard let key = record.request.uniqueKey, !record.state.isFinal,
      var former = try transaction.holder(of: key, identifier: record.request.identifier), former.id != record.id
    else { return }
    former.request.uniqueKey = nil
    try transaction.update(former)
  }

  /// Who holds a unique key until a time that has not come, whether or not it lives; nil if nobody does.
  func windowHolder(of key: String, _ identifier: TaskIdentifier, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestID? {
    guard let visiting else { return try transaction.windowHolder(of: key, identifier: identifier, now: now) }
    return visiting.windows.first { $0.key == key && $0.identifier == identifier }?.request
  }

  /// Holds a unique key until a time; `now` lets it go.
  func hold(
    _ key: String, _ identifier: TaskIdentifier, for id: RequestID, until time: WallTime, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    guard visiting != nil else { return try transaction.hold(key, identifier: identifier, for: id, until: time) }
    visiting?.held.removeAll { $0.key == key && $0.identifier == identifier }
    visiting?.held.append(HeldKey(identifier: identifier, key: key, request: id, length: max(.zero, time - now)))
    visiting?.windows.removeAll { $0.key == key && $0.identifier == identifier }
    if time > now { visiting?.windows.append(HeldKey(identifier: identifier, key: key, request: id, length: time - now)) }
  }

  /// What a visit knows besides the requests in the store.
  struct Visiting {
    /// Whether the host holds the request for longer than this: others of the fleet may begin to wait for it meanwhile.
    let areHeld: Bool
    /// Ids of the fleet for the requests that the visit adds, last first.
    var drawn: [RequestID]
    /// What the idempotency keys of its submissions stand for.
    var known: [String: KnownSubmission]
    /// The idempotency keys of the requests that it has added.
    var keys: [RequestID: FleetSubmissionKey] = [:]
    /// The unique keys that are held until a time, as far as its submissions name them.
    var windows: [HeldKey]
    /// What it has changed in that.
    var held: [HeldKey] = []

    init(_ visitors: FleetVisitors, areHeld: Bool = false) {
      self.areHeld = areHeld
      (drawn, known, windows) = (visitors.drawn.reversed(), visitors.known, visitors.windows)
    }
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
  /// The unique keys of its submissions that are held until a time.
  public var windows: [HeldKey] = []

  /// Creates visitors of which none is only looked at.
  public init(_ taken: [LeasedRequest] = []) { self.taken = taken }
}

/// A unique key that is held for a request for a while, whether or not it lives.
public struct HeldKey: Sendable, Hashable {
  /// The identifier whose key it is.
  public let identifier: TaskIdentifier
  /// The key.
  public let key: String
  /// The request.
  public let request: RequestID
  /// For how long; zero to let it go.
  public let length: Duration

  /// Creates one.
  public init(identifier: TaskIdentifier, key: String, request: RequestID, length: Duration) {
    (self.identifier, self.key, self.request, self.length) = (identifier, key, request, length)
  }
}

/// What a change has done to unique keys.
public struct FleetKeyMoves: Sendable, Hashable {
  /// Requests that have another key now, or none: also those that were only looked at.
  public internal(set) var moved: [RequestID: String?] = [:]
  /// Keys that are held for a while.
  public let held: [HeldKey]
}

/// What a change has made of a request of the fleet that the host holds.
public struct HeldChange<Value: Sendable>: Sendable {
  /// The result of the change.
  public let value: Value
  /// The request with its payload as if its run had not begun; nil if it had not: then it goes back, or has ended.
  public internal(set) var running: RequestRecord?
  /// The unique keys that the change holds for a while.
  public let keys: [HeldKey]

  init(value: Value, keys: [HeldKey]) { (self.value, self.keys) = (value, keys) }
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
  /// What it has done to unique keys.
  public let moves: FleetKeyMoves
  /// What observers are to be told once the database has it.
  public let events: [HostEvent]
}
