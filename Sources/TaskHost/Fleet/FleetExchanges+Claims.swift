import FleetStore
import HostThreads
import Logging
import SchedulingLimits
import TaskModel
import TaskScheduler

// What the host claims.

extension FleetExchanges {
  /// The most requests of a lane in one claim, and of an errand in one turn.
  static let mostClaimed = 500
  /// The most bytes that the host holds while it claims more than it could begin now.
  private static let mostHeldAhead = 2 * ClaimedRequest.bytesTogether

  /// The most bytes of what has ended, and is not recorded, with which the host claims more.
  private static let mostEnded = 4 * ClaimedRequest.bytesTogether

  /// The most requests of a lane that the host holds and cannot read, with which it claims more of that lane.
  private static let mostUnread = 1000

  /// Finds the lanes of requests that need nothing but their time.
  func findPlainLanes(_ session: FleetSession) throws(FleetError) {
    var plain = try session.plainLanes(of: identifiers)
    for lane in plain { writer.numbers.note(lane.id, of: lane.lane) }
    let known = Set(plain.map(\.lane.identifier))
    // The fleet may see an identifier for the first time that a reload has brought. If somebody else is adding it, it is asked for again.
    let new = identifiers.filter { !known.contains($0) }.map { Lane($0) }
    let ids = new.isEmpty ? [] : try writer.numbers.idsOfUnlocked(new, session)
    plain += zip(new, ids).compactMap { lane, id in id.map { FleetLane(id: $0, lane: lane) } }
    lanes.set(plain, isWhole: !ids.contains(nil))
  }

  /// What the host could begin now, or holds ahead because its runs are short. What it has and will not begin soon goes back.
  func demand(besides ended: [FleetAgent.Ended]) -> [FleetDemand] {
    let all = lanes.all
    // What ends faster than the database takes it would fill the memory.
    guard !all.isEmpty, agent.state.withLock({ $0.endedBytes(besides: ended) }) < Self.mostEnded else { return [] }
    let answer = Awaited<[LaneDemand]>()
    agent.scheduler.demand(for: all.map(\.lane)) { answer.set($0) }
    let demands = answer.wait()
    looks.opens(in: demands.compactMap(\.opensIn).min())
    let isAhead = demands.contains { $0.spare > 0 } && agent.state.withLock { $0.heldBytes } < Self.mostHeldAhead
    let (counts, unread) = agent.state.withLock { ($0.heldCounts(besides: ended), $0.unreadCounts) }
    var held: [TaskIdentifier: Int] = [:]
    for lane in all { held[lane.lane.identifier, default: 0] += counts[lane.id] ?? 0 }
    giveBack(
      zip(all, demands).compactMap { lane, demand in
        let isTooMuch = (held[lane.lane.identifier] ?? 0) > demand.busy + demand.room + demand.soon
        return isTooMuch && counts[lane.id] != nil ? lane.id : nil
      })
    return zip(all, demands).compactMap { lane, demand in
      // What only a newer host can read is for that.
      guard unread[lane.id, default: 0] < Self.mostUnread else { return nil }
      var room = demand.room
      if isAhead, demand.spare > 0 {
        let spare = demand.busy + demand.room + demand.spare - (held[lane.lane.identifier] ?? 0)
        // Many at a time: until then, the host has enough.
        if 2 * spare >= demand.spare { room = max(room, spare) } else if (counts[lane.id] ?? 0) - demand.busy >= room { room = 0 }
      }
      guard room > 0 else { return nil }
      var wanted = FleetDemand(lane.lane.identifier, lane: lane.id, limit: min(room, Self.mostClaimed))
      wanted.prefers = lane.lane.gates.preferredHosts
      wanted.runsPerKey = demand.runsPerKey
      wanted.rate = demand.rate.map { ($0.count, $0.period) }
      wanted.ratePerKey = demand.ratePerKey.map { ($0.count, $0.period) }
      return wanted
    }
  }

  /// Gives back what has not begun of these lanes: it came ahead of runs that were short, or while the lanes were open.
  private func giveBack(_ lanes: [Int64]) {
    guard !lanes.isEmpty else { return }
    agent.scheduler.giveBack(agent.held(of: Set(lanes))) { _ in }
  }

  /// Whether an identifier got all that the host wanted of it, or the claim is so large that it may have been cut short.
  static func mayHaveMore(_ claimed: [ClaimedRequest], of wanted: [FleetDemand]) -> Bool {
    if claimed.indices.reduce(0, { $0 + claimed[$1].bytes }) > ClaimedRequest.bytesTogether / 2 { return true }
    let identifiers = Dictionary(wanted.map { ($0.lane, $0.identifier) }) { first, _ in first }
    var counts: [TaskIdentifier: Int] = [:]
    for claim in claimed { if let identifier = identifiers[claim.lane] { counts[identifier, default: 0] += 1 } }
    return wanted.contains { (counts[$0.identifier] ?? 0) >= $0.limit }
  }

  /// Hands claimed requests to the scheduler. Returns how many it refused: they go back.
  ///
  /// - Parameter cancelled: Those of them that do not begin, because somebody has cancelled them.
  func take(_ claimed: [ClaimedRequest], cancelled: Set<RequestID>, _ incarnation: String) -> Int {
    guard !claimed.isEmpty else { return 0 }
    agent.hold(claimed, as: incarnation)
    var requests: [LeasedRequest] = []
    for claim in claimed {
      switch claim.record {
      case .success(var record):
        record.losses = record.losses.adding(saturating: claim.lost)
        requests.append(
          LeasedRequest(
            record, eventPayload: claim.eventPayload, checkpoint: claim.checkpoint, fencingToken: claim.epoch))
      case .failure(let flaw):
        agent.log.error("request \(claim.id) of the fleet cannot be read, and stays here until the host's lease ends: \(flaw)")
      }
    }
    let answer = Awaited<Result<[RequestID], RequestRefusal>>()
    agent.scheduler.lease(
      requests, cancelled: cancelled, awakeSince: agent.lease.awakeSince,
      while: { [lease = agent.lease] in lease.incarnation == incarnation }
    ) { [agent, requests] in
      // Before anybody hears of what the same turn has done to them.
      agent.noteHandedOver(requests)
      answer.set($0)
    }
    var refused = requests
    if case .success(let ids) = answer.wait() {
      guard !ids.isEmpty else { return 0 }
      refused.removeAll { !ids.contains($0.record.id) }
    }
    agent.surrendered(
      refused.map {
        SurrenderedRequest(
          record: $0.record, runs: [], eventPayload: $0.eventPayload, checkpoint: $0.checkpoint, fencingToken: $0.fencingToken)
      })
    return refused.count
  }
}
