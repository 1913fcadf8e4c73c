import TaskModel

extension SchedulerCore {
  /// Takes requests of the fleet into the store, lets `change` do something to them, and removes them again, all before anything begins.
  func visit<Value>(
    _ visitors: [LeasedRequest], drawn: [RequestID], _ transaction: any StoreTransaction, _ change: () throws -> Value
  ) throws -> FleetVisit<Value> {
    drawnIDs = drawn.reversed()
    defer { drawnIDs = [] }
    for visitor in visitors {
      let record = visitor.record
      guard try transaction.request(record.id) == nil else {
        throw RequestRefusal(.conflict, "request \(record.id) has just changed: look again")
      }
      try visitor.insert(transaction)
      guard !record.state.isFinal else { continue }
      countLive(record.request.identifier, by: 1)
      if record.state == .pending { becamePending(record) }
    }
    let value = try change()
    let changed = try visitors.compactMap { try leave($0.record.id, transaction) }
    let added = try drawn.compactMap { try leave($0, transaction) }
    turn.changes += 1
    return FleetVisit(value: value, changed: changed, added: added.map(\.record))
  }

  /// Wakes those of `ids` that wait for an event, as far as this host has them.
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
}
