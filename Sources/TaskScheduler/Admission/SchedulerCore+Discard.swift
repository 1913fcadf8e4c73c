import TaskModel

extension SchedulerCore {
  /// Discards a dead letter: it becomes cancelled, can no longer be retried, and is removed with the history.
  func discard(_ id: RequestID, _ transaction: any StoreTransaction, now: WallTime) throws -> RequestRecord {
    var record = try find(id, transaction)
    guard record.state == .failed else {
      let wish = record.state.isFinal ? "" : "; use taskhost tasks cancel \(id)"
      throw RequestRefusal(.conflict, "request \(id) \(Self.ending(record.state)): only a failed request can be discarded\(wish)")
    }
    try record.apply(.discarded)
    let told = try tellEnd(of: record, as: .cancelled, transaction, now: now)
    record.lastMessage = told.note("discarded; it had failed\(record.lastMessage.map { ": \($0)" } ?? "")")
    try transaction.update(record)
    try sweep(after: record, transaction, now: now)
    note(record)
    return record
  }

  /// Discards the dead letters that match.
  ///
  /// - Parameters:
  ///   - identifier: Only dead letters of this identifier; nil: all.
  ///   - tag: Only those with this tag; nil: all.
  ///   - after: Only those with a later id.
  ///   - limit: The maximum number of the identifier's dead letters to examine.
  func discardAll(
    identifier: TaskIdentifier?, tag: String?, after: RequestID?, limit: Int, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> DiscardedRequests {
    var result = DiscardedRequests()
    let ids = try transaction.failed(of: identifier).filter { id in after.map { $0 < id } ?? true }
    for id in ids.prefix(limit) {
      if let tag, try transaction.request(id)?.request.tags.contains(where: { $0.utf8.elementsEqual(tag.utf8) }) != true { continue }
      result.discarded.append(try discard(id, transaction, now: now).id)
    }
    if ids.count > limit { result.last = ids.prefix(limit).last }
    return result
  }
}
