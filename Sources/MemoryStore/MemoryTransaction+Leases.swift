import TaskModel

extension MemoryTransaction {
  /// Any request that waits or has ended: a store in memory knows no other owner.
  func surrender(_ id: RequestID) throws -> SurrenderedRequest? {
    guard let row = row(id), row.record.state != .running, row.record.state != .claimed else { return nil }
    var record = row.record
    record.request.payload = row.payload
    let ended = (runsOf[id.sequence] ?? []).sorted().compactMap { runs[$0] }
    forgetRuns(ended.map(\.id.sequence))
    let edges = try edges(of: id)
    if !edges.isEmpty { setEdges(nil, of: id.sequence) }
    let checkpoint = checkpoints[id.sequence]
    removeCheckpoint(of: id.sequence)
    remove(row)
    undo { [unowned self] in restore(row) }
    return SurrenderedRequest(record: record, runs: ended, eventPayload: row.eventPayload, checkpoint: checkpoint, edges: edges)
  }
}
