import Failpoints
import SchedulingLimits
import TaskModel

/// Counts of events and their effects, since the host began.
public struct EventCounts: Sendable, Hashable {
  /// Events that the host received.
  public var received: UInt64 = 0
  /// Requests that events made due.
  public var woken: UInt64 = 0
  /// Wake-ups that were merged into an earlier one: one run answers several events.
  public var merged: UInt64 = 0
  /// Events that no request waited for. Without those of a host in a fleet, whose requests may wait for them.
  public var dropped: UInt64 = 0

  /// Creates counts of zero.
  public init() {}
}

extension SchedulerCore {
  /// Handles an event: requests that wait for it become due after their debounce time, within the quota of wake-ups.
  ///
  /// - Parameter payload: Replaces the submitted payload for the runs it wakes; nil keeps the submitted one.
  func notify(_ event: String, payload: [UInt8]?, _ transaction: any StoreTransaction, now: WallTime) throws -> EventReceipt {
    var receipt = EventReceipt(event: event)
    if let path = EventTrigger(event).path { try retry(afterChangeOf: path, transaction, now: now) }
    for var record in try transaction.waiting(forEvent: event) {
      try requireHere(record)
      try wake(&record, payload: payload, &receipt, transaction, now: now)
    }
    if receipt.waiting > 0 { Failpoint.eventRecorded.hit() }
    if receipt.waiting == 0 { receipt.dropped = 1 }
    eventCounts.received += 1
    count(receipt)
    if fleet == nil { eventCounts.dropped += UInt64(receipt.dropped) }
    return receipt
  }

  private func wake(
    _ record: inout RequestRecord, payload: [UInt8]?, _ receipt: inout EventReceipt, _ transaction: any StoreTransaction, now: WallTime
  ) throws {
    guard let trigger = record.request.event else { return }
    receipt.waiting += 1
    // A running one-time request is not woken again.
    if record.state == .running, record.request.repetition == nil { return }
    if let payload { try transaction.setEventPayload(payload, of: record.id) }
    let known = record.state == .running ? record.eventDue : (record.due < .distantFuture ? record.due : nil)
    if let known {
      receipt.merged += 1
      // During the debounce time, each event postpones the run, up to a limit.
      guard trigger.debounce > .zero, known > now, let since = record.eventSince,
        let quiet = Debounce(quiet: trigger.debounce, first: since, last: now, count: 2).firesAt
      else { return }
      set(&record, due: max(known, quiet))
    } else {
      receipt.woken += 1
      record.eventSince = now
      turn.noteWakes(of: record.request.identifier, limits.wakes(of: record.request.identifier))
      let due = max(now + trigger.debounce, limits.wake(record.request.identifier, now: now))
      set(&record, due: due.moved(by: offset(of: record)))
    }
    if let earliest = record.request.earliestBegin { set(&record, due: max(earliest, due(of: record))) }
    try transaction.update(record)
    turn.changes += 1
    if record.state == .pending { becamePending(record) }
    note(record)
  }

  private func count(_ receipt: EventReceipt) {
    eventCounts.woken += UInt64(receipt.woken)
    eventCounts.merged += UInt64(receipt.merged)
  }

  // MARK: Events that the host raises

  /// Notes an event that the host raises, if a request may wait for it. The turn delivers it when its inputs are settled: a run ends
  /// whether or not those that wait for its end can be woken now.
  ///
  /// - Parameter event: Its name, which is not made if nothing waits: each run that ends raises one.
  func raise(_ event: @autoclosure () -> String) {
    guard turn.changedWatches || !awaitedHostEvents.isEmpty else { return }
    let event = event()
    if mayAwait(event), !turn.raised.contains(event) { turn.raised.append(event) }
  }

  /// Whether a request may wait for one of the ``HostEvents``.
  func mayAwait(_ event: String) -> Bool { turn.changedWatches || watchesAreStale || awaitedHostEvents.contains(event) }

  /// Delivers an event that the host raised, except to requests that are handed out ahead: their runs may have begun before the event.
  ///
  /// - Returns: Those requests, to be woken by ``wake(_:by:payload:_:now:)`` when they are back. If the host dies before that, they are pending, and
  ///   run after the event.
  func deliver(_ event: String, _ transaction: any StoreTransaction, now: WallTime) throws -> [RequestRecord] {
    var receipt = EventReceipt(event: event)
    var ahead: [RequestRecord] = []
    for var record in try transaction.waiting(forEvent: event) {
      if record.state == .claimed {
        ahead.append(record)
      } else {
        try wake(&record, payload: nil, &receipt, transaction, now: now)
      }
    }
    if receipt.waiting + ahead.count > 0 {
      Failpoint.eventRecorded.hit()
      eventCounts.received += 1
      count(receipt)
    }
    return ahead
  }

  /// Wakes those of `ids` that wait for an event, as far as the store has them: those that were handed out ahead when the host raised it,
  /// or those that the host has taken from its fleet for that.
  func wake(
    _ ids: [RequestID], by event: String, payload: [UInt8]?, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> EventReceipt {
    var receipt = EventReceipt(event: event)
    for id in ids {
      guard var record = try transaction.request(id), !record.state.isFinal, record.request.event?.name == event else { continue }
      try requireHere(record)
      try wake(&record, payload: payload, &receipt, transaction, now: now)
    }
    count(receipt)
    return receipt
  }

  /// Finds the files and the host's own events that requests wait for, if they may have changed in this turn.
  func findWatches(_ transaction: any StoreTransaction) throws {
    guard turn.changedWatches else { return }
    let events = try transaction.awaitedEvents()
    watchesAreStale = false
    let paths = Set(events.compactMap { EventTrigger($0).path })
    awaitedHostEvents = Set(events.filter(HostEvents.isRaised))
    turn.watches = paths.union(awaitedRetries.paths)
    watchesFiles = !paths.isEmpty
  }

  private func set(_ record: inout RequestRecord, due: WallTime) {
    if record.state == .running {
      record.eventDue = due
    } else {
      record.due = due
      if record.request.repetition != nil { record.occurrence = due }
    }
  }

  private func due(of record: RequestRecord) -> WallTime { record.state == .running ? record.eventDue ?? .distantFuture : record.due }

  /// Applies the operator's defaults to what the request leaves out. Refuses windows and resources that the configuration cannot provide.
  func applyOperatorsGates(to request: inout TaskRequest) throws(RequestRefusal) {
    let limits = policy.limits[request.identifier]
    if request.gates.window == nil { request.gates.window = limits?.window }
    if let window = request.gates.window, !windows.has(window) {
      let known = windows.names.map { "\"\($0)\"" }.joined(separator: ", ")
      let remedy = known.isEmpty ? "the configuration has none; add [windows.\(window)]" : "the configuration has \(known)"
      throw RequestRefusal(.invalid, "there is no maintenance window \"\(window)\": \(remedy)", field: .window)
    }
    guard !draftsForFleet else { return }
    for shortage in self.limits.resources.missing(for: self.limits.tokens(request.gates, request.identifier)) where shortage.isForever {
      throw RequestRefusal(.invalid, shortage.description, field: .resources)
    }
  }
}
