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
  func findLaunchCancels(_ session: FleetSession) throws(FleetError) {
    let identifiers = agent.state.withLock { $0.launchCancels }
    guard !identifiers.isEmpty else { return }
    var scan = RequestView.waiting(of: identifiers.sorted(), after: nil, limit: Self.mostClaimed)
    var found: [RequestID] = []
    repeat {
      let part = try session.scan(scan) { !$0.request.isSchedule }
      found += part.records.map(\.id)
      scan.after = part.next
    } while scan.after != nil
    agent.state.withLock { state in
      state.launchCancels.subtract(identifiers)
      state.unwanted += found
    }
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

  /// Cancels what is in the fleet and should not be, if nobody runs it.
  func cancelUnwanted(_ session: FleetSession, _ incarnation: String) throws(FleetError) {
    while true {
      let some = Array(agent.state.withLock { $0.unwanted.prefix(Self.mostClaimed) })
      guard !some.isEmpty else { return }
      try run(FleetErrand(untold: some) { .cancel(waiting: $0) }, session, incarnation)
      agent.state.withLock { $0.unwanted.removeFirst(some.count) }
    }
  }
}
