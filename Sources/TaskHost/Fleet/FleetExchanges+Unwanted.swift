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
  /// - Returns: Whether there is nothing to find any more. Each turn finds a part.
  func findLaunchCancels(_ session: FleetSession) throws(FleetError) -> Bool {
    if launchCancels == nil {
      // Before the end is drawn: what is asked for from now on needs another search.
      let identifiers = agent.state.withLock { state in
        defer { state.launchCancels = [] }
        return state.launchCancels
      }
      do throws(FleetError) {
        if !identifiers.isEmpty, let end = try session.draw(1).first {
          launchCancels = (RequestView.waiting(of: identifiers.sorted(), after: nil, limit: Self.mostClaimed), end)
        }
      } catch {
        agent.state.withLock { $0.launchCancels.formUnion(identifiers) }
        throw error
      }
    }
    guard let (scan, end) = launchCancels else { return true }
    let part = try session.scan(scan) { !$0.request.isSchedule }
    launchCancels?.scan.after = part.next
    if part.next.map({ $0 >= end }) ?? true { launchCancels = nil }
    let isDone = agent.state.withLock { state in
      state.unwanted += part.records.lazy.map(\.id).filter { $0 < end }
      return launchCancels == nil && state.launchCancels.isEmpty
    }
    if !isDone { agent.wake() }
    return isDone
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
