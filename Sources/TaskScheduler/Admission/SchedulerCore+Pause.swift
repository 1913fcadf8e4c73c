import TaskModel

extension SchedulerCore {
  /// Holds a live request back until ``resume(_:_:now:)``. A request that is paused already keeps its pause.
  ///
  /// Its run is asked to stop with `conditions`: it then ends without an attempt spent, unless it succeeds or fails at that moment.
  func pause(_ id: RequestID, _ pause: RequestPause, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    var record = try find(id, transaction)
    try requireHere(record)
    guard !record.state.isFinal, record.stopRequested == nil else {
      let state = record.stopRequested == nil ? Self.ending(record.state) : "is being cancelled"
      throw RequestRefusal(.conflict, "request \(id) \(state): only a live request can be paused")
    }
    if let present = record.paused {
      // The operator's pause takes the place of a plugin's, which could end its own.
      guard present.isPlugins, !pause.isPlugins else { return record }
      record.paused = pause
      try write(record, transaction)
      return record
    }
    handlers[record.request.identifier]?.forgetDue(of: record)
    record.paused = pause
    try write(record, transaction)
    if record.state == .running, let run = record.run, live[run] != nil { turn.expirations.append((run, .conditions)) }
    return record
  }

  /// Lets a paused request go on. A request that is not paused stays as it is.
  ///
  /// - Parameter isPlugins: Whether a plugin asks: it ends no pause of the operator's. The operator ends any.
  func resume(_ id: RequestID, isPlugins: Bool = false, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    var record = try find(id, transaction)
    guard !record.state.isFinal else {
      throw RequestRefusal(.conflict, "request \(id) \(Self.ending(record.state)), so it cannot be resumed")
    }
    guard let pause = record.paused, pause.isPlugins || !isPlugins else { return record }
    guard !pause.isParked else {
      throw RequestRefusal(
        .conflict, "request \(id) is parked for the fleet, and goes there when its database answers; it can be cancelled")
    }
    try requireHere(record)
    record.paused = nil
    try write(record, transaction)
    return record
  }

  /// Writes a request whose lane has changed.
  private func write(_ record: RequestRecord, _ transaction: any StoreTransaction) throws {
    try transaction.update(record)
    turn.changes += 1
    if record.state == .pending { becamePending(record) }
    note(record)
  }
}
