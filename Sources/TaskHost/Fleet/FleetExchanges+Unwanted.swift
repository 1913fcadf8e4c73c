import FleetStore
import HostThreads
import TaskModel
import TaskScheduler

// What waits in the fleet and is to be cancelled there.

extension FleetAgent {
  /// Cancels what waits of these identifiers in the fleet, because their plugins have asked for that while they launched, before anything goes
  /// there that they have submitted.
  func cancelForLaunch(_ identifiers: Set<TaskIdentifier>) {
    guard !identifiers.isEmpty else { return }
    state.withLock { $0.launchCancels.formUnion(identifiers) }
    wake()
  }
}

extension FleetExchanges {
  /// Finds what is to be cancelled because plugins have asked for that while they launched: what is submitted from now on is not meant.
  ///
  /// - Returns: Whether there is nothing to find any more. Some is found in each turn.
  func findLaunchCancels(_ session: FleetSession) throws(FleetError) -> Bool {
    if launchCancels == nil {
      let identifiers = agent.state.withLock { $0.launchCancels }
      guard !identifiers.isEmpty else { return true }
      guard let end = try session.draw(1).first else { return false }
      launchCancels = (RequestView.waiting(of: identifiers.sorted(), after: nil, limit: Self.mostClaimed), identifiers, end)
    }
    guard let (scan, identifiers, end) = launchCancels else { return true }
    let part = try session.scan(scan) { !$0.request.isSchedule }
    let next = part.next.flatMap { $0 < end ? $0 : nil }
    launchCancels?.scan.after = next
    if next == nil { launchCancels = nil }
    let isMore = agent.state.withLock { state in
      if next == nil { state.launchCancels.subtract(identifiers) }
      state.unwanted += part.records.lazy.map(\.id).filter { $0 < end }
      return !state.launchCancels.isEmpty
    }
    if isMore { agent.wake() }
    return !isMore
  }

  /// Cancels what somebody cancelled while it went to the fleet: a host may have it by now.
  func cancelSent(_ session: FleetSession, _ incarnation: String) throws(FleetError) {
    while let id = agent.state.withLock({ $0.cancelledOnTheWay.first }) {
      if try !session.stop(id) {
        try run(FleetErrand(untold: [id]) { .cancel(waiting: $0) }, session, incarnation)
        // A host may have taken it at this moment.
        _ = try session.stop(id)
      }
      agent.state.withLock { state in state.cancelledOnTheWay.removeAll { $0 == id } }
    }
  }

  /// Cancels what is in the fleet and should not be, if nobody runs it: some of it in each turn.
  func cancelUnwanted(_ session: FleetSession, _ incarnation: String) throws(FleetError) {
    let some = agent.state.withLock { $0.unwanted.suffix(Self.mostClaimed) }
    guard !some.isEmpty else { return }
    try run(FleetErrand(untold: Array(some)) { .cancel(waiting: $0) }, session, incarnation)
    let isMore = agent.state.withLock { state in
      // Nobody else removes any, and what has come meanwhile stands behind these.
      state.unwanted.removeSubrange(some.indices)
      return !state.unwanted.isEmpty
    }
    if isMore { agent.wake() }
  }
}
