import FleetStore
import TaskModel
import TaskScheduler

// What has ended, as the database records it.

extension FleetWriter {
  /// What became of those that the host owns as this incarnation.
  mutating func settlements(
    _ ended: [FleetAgent.Ended], _ incarnation: String, _ session: FleetSession
  ) throws(FleetError) -> [SettledRequest] {
    var settlements: [SettledRequest] = []
    for (request, holding) in ended where holding.incarnation == incarnation {
      settlements.append(try settlement(request, session))
    }
    return settlements
  }

  mutating func settlement(_ request: SurrenderedRequest, _ session: FleetSession) throws(FleetError) -> SettledRequest {
    var record = request.record
    // What has ended well does not run again.
    if !request.runs.isEmpty, record.state != .succeeded, record.state != .cancelled {
      record.request.gates.note(lastHost: agent.place.host.name)
    }
    return SettledRequest(
      record: record, lane: try numbers.id(of: record.lane, session), runs: request.runs, eventPayload: request.eventPayload,
      checkpoint: request.checkpoint)
  }

  /// Whether others may have room for what the host leaves.
  static func leavesRoom(_ settled: [SettledRequest]) -> Bool {
    settled.contains { $0.record.state == .pending || $0.record.request.gates.concurrencyKey != nil }
  }
}
