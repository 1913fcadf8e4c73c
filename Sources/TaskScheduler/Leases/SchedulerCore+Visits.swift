import TaskModel

extension SchedulerCore {
  /// Takes requests of the fleet into the store, lets `change` do something to them, and removes them again, all before anything begins.
  func visit<Value>(
    _ visitors: [LeasedRequest], drawn: [RequestID], _ transaction: any StoreTransaction, _ change: () throws -> Value
  ) throws -> FleetVisit<Value> {
    drawnIDs = drawn.reversed()
    defer { drawnIDs = [] }
    for visitor in visitors {
      let id = visitor.record.id
      guard try transaction.request(id) == nil else { throw RequestRefusal(.conflict, "request \(id) has just changed: look again") }
      try arrive(visitor, transaction)
    }
    let value = try change()
    let changed = try visitors.compactMap { try leave($0.record.id, transaction) }
    let added = try drawn.compactMap { try leave($0, transaction) }
    turn.changes += 1
    return FleetVisit(value: value, changed: changed, added: added.map(\.record))
  }
}
