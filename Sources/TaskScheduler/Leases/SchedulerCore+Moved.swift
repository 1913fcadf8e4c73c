public import TaskModel

extension SchedulerCore {
  /// Ends requests that the fleet has now, as what their store says of them to people. Nobody is told of their ends, which they have not
  /// come to.
  ///
  /// - Parameter moved: The ids in the store, and those in the fleet.
  func letGo(of moved: [RequestID: RequestID], _ transaction: any StoreTransaction, now: WallTime) throws {
    // Those that wait for others have greater ids: none of them is told that its predecessor was cancelled.
    for (id, new) in moved.sorted(by: { $0.key > $1.key }) {
      guard var record = try transaction.request(id) else { continue }
      let message = RequestRecord.movedMessage + "\(new)"
      switch record.state {
      case .blocked, .pending: try cancelWaiting(&record, message: message, tells: false, transaction, now: now)
      case .failed:
        try record.apply(.discarded)
        record.lastMessage = message
        try transaction.update(record)
        try sweep(after: record, transaction, now: now)
        note(record)
      case .claimed, .running, .succeeded, .cancelled: continue
      }
    }
  }
}

extension RequestRecord {
  fileprivate static let movedMessage = "moved to the fleet as "

  /// Whether the request has come to an end in the host's store by itself, and not because it went to the fleet.
  public var hasEndedHere: Bool { state == .succeeded || state == .cancelled && lastMessage?.hasPrefix(Self.movedMessage) != true }
}

extension SchedulerChange<Void> {
  /// Cancels those of these requests that nobody runs.
  public static func cancel(waiting ids: [RequestID]) -> Self {
    Self { core, transaction, now in
      for id in ids {
        guard let state = try transaction.request(id)?.state, state == .pending || state == .blocked else { continue }
        _ = try core.cancel(id, quietly: true, transaction, now: now)
      }
    }
  }
}
