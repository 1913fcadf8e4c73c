import FleetStore
import TaskModel
import TaskScheduler

// What has ended, as the database records it.

extension FleetWriter {
  /// What became of those that the host owns as this incarnation.
  ///
  /// - Parameter ended: Loses those whose lane another transaction is making: that may stay open for long, and they are recorded after it.
  mutating func settlements(
    _ ended: inout [FleetAgent.Ended], _ incarnation: String, _ session: FleetSession
  ) throws(FleetError) -> [SettledRequest] {
    var settled: [SettledRequest] = []
    var again: [Int] = []
    for (request, holding) in ended where holding.incarnation == incarnation {
      var one = settlement(request)
      one.epoch = holding.epoch
      if one.mayRunAgain { again.append(settled.count) }
      settled.append(one)
    }
    guard !again.isEmpty else { return settled }
    let lanes = try numbers.idsOfUnlocked(again.map { settled[$0].record.lane }, session)
    var locked: Set<RequestID> = []
    for (place, lane) in zip(again, lanes) {
      if let lane { settled[place].lane = lane } else { locked.insert(settled[place].record.id) }
    }
    guard !locked.isEmpty else { return settled }
    settled.removeAll { locked.contains($0.record.id) }
    agent.putBack(locked: ended.filter { locked.contains($0.request.record.id) })
    ended.removeAll { locked.contains($0.request.record.id) }
    return settled
  }

  mutating func settlement(_ request: SurrenderedRequest, _ session: FleetSession) throws(FleetError) -> SettledRequest {
    var settled = settlement(request)
    if settled.mayRunAgain { settled.lane = try numbers.id(of: settled.record.lane, session) }
    return settled
  }

  /// Without a lane.
  private func settlement(_ request: SurrenderedRequest) -> SettledRequest {
    var settled = SettledRequest(
      record: request.record, runs: request.runs, eventPayload: request.eventPayload, checkpoint: request.checkpoint)
    if settled.mayRunAgain, !request.runs.isEmpty { settled.record.request.gates.note(lastHost: agent.place.host.name) }
    return settled
  }

  /// Whether others may have room for what the host leaves.
  static func leavesRoom(_ settled: [SettledRequest]) -> Bool {
    settled.contains { $0.record.state == .pending || $0.record.request.gates.concurrencyKey != nil }
  }
}
