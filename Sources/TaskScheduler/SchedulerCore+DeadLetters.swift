import TaskModel

extension SchedulerCore {
  /// Makes a dead letter pending again, with all its attempts. What it depended on is not waited for any more.
  func revive(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    var record = try find(id, transaction)
    guard record.state == .failed else {
      throw RequestRefusal(.conflict, "request \(id) is \(record.state.rawValue); only one that has failed can be retried")
    }
    if let key = record.request.uniqueKey, try transaction.holder(of: key, identifier: record.request.identifier) != nil {
      throw RequestRefusal(.conflict, "another request holds the unique key \"\(key)\" by now: cancel it first")
    }
    let hasNewPayload = try takeOutputs(of: &record, transaction)
    record.state = try record.state.transition(on: .revived, guards: RequestGuards()).state
    record.due = now
    record.attemptsSpent = 0
    record.losses = 0
    record.ended = nil
    if hasNewPayload { try transaction.rewrite(record) } else { try transaction.update(record) }
    turn.changes += 1
    becamePending(record)
    countLive(record.request.identifier, by: 1)
    note(record)
    return record
  }

  /// Makes dead letters pending again, but not those whose unique key another holds by now.
  ///
  /// - Parameters:
  ///   - identifier: Only those of it; nil: all.
  ///   - tag: Only those with it; nil: all.
  ///   - after: Only those after it in the order of ids.
  ///   - limit: At most so many of the identifier's are looked at.
  func reviveAll(
    identifier: TaskIdentifier?, tag: String? = nil, after: RequestID? = nil, limit: Int = .max, _ transaction: any StoreTransaction,
    now: WallTime
  ) throws -> RetriedRequests {
    var result = RetriedRequests()
    let ids = try transaction.failed(of: identifier).filter { id in after.map { $0 < id } ?? true }
    for id in ids.prefix(limit) {
      if let tag, try transaction.request(id)?.request.tags.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) != true { continue }
      do {
        _ = try revive(id, transaction, now: now)
        result.retried.append(id)
      } catch let refusal as RequestRefusal where refusal.code == .conflict {
        // It was refused before anything was changed.
        result.refused.append(RetriedRequests.Refused(id: id, message: refusal.message))
      }
    }
    if ids.count > limit { result.last = ids.prefix(limit).last }
    return result
  }

  /// A request that failed with what it waited for runs without that: it is given what is there. Its message says what is not.
  ///
  /// - Returns: Whether its payload is another now.
  private func takeOutputs(of record: inout RequestRecord, _ transaction: any StoreTransaction) throws -> Bool {
    // One that ran had all that it waited for.
    guard record.lastOutcome == nil else { return false }
    var edges = try transaction.edges(of: record.id)
    guard !edges.isEmpty else { return false }
    var missing: [String] = []
    for index in edges.indices where edges[index].ended != .succeeded && edges[index].onFailure == .fail {
      // It may have been retried meanwhile.
      let predecessor = edges[index].predecessor
      let state = try transaction.request(predecessor)?.state ?? edges[index].ended
      if state == .succeeded {
        edges[index].ended = .succeeded
        edges[index].output = try transaction.output(of: predecessor) ?? []
      } else {
        missing.append("\(predecessor), which \(state.map(Self.ending) ?? "has not ended")")
      }
    }
    var notes = missing.isEmpty ? [] : ["it runs without \(missing.joined(separator: "; ")); its dependants stay as they are"]
    let submitted = try transaction.submittedPayload(of: record.id)
    record.request.payload = submitted
    do { record.request.payload = try MergedPayload.of(submitted, edges) } catch {
      notes.append("it runs with what was submitted alone: \(error.message)")
    }
    record.lastMessage = notes.isEmpty ? nil : "retried: " + notes.joined(separator: "; ")
    return record.request.payload != submitted
  }
}
