import TaskModel

/// Backoffs that the change of a file ends: whoever changes the file has done what the last run lacked, such as a token.
extension SchedulerCore {
  /// How long after a change the retry is due: a program may write a file in several steps.
  static let quietTime = Duration.milliseconds(250)

  /// Notes the file that a request waits for whose run has ended, besides the time of its backoff.
  ///
  /// - Parameter output: Of that run.
  func noteAwaitedFile(of record: RequestRecord, output: [UInt8], _ transaction: any StoreTransaction) throws {
    guard let rule = completions, rule.identifier == record.request.identifier else { return }
    guard record.lastOutcome == .retried, record.isInBackoff, !output.isEmpty,
      let payload = try legiblePayload(of: record.id, transaction), let path = rule.awaitedFile(payload, output)
    else { return awaitedRetries.remove(record.id) }
    awaitedRetries.add(record.id, path: path)
    turn.changedWatches = true
  }

  /// Finds the files that requests wait for which a previous host process has put into their backoff.
  func findAwaitedRetries(_ transaction: any StoreTransaction, now: WallTime) throws {
    guard let identifier = completions?.identifier else { return }
    for record in try transaction.waiting(of: identifier) where record.isInBackoff && record.due > now {
      try noteAwaitedFile(of: record, output: legible { try transaction.output(of: record.id) ?? [] } ?? [], transaction)
    }
  }

  /// A file has changed: ends the backoff of the requests that wait for it. Their attempts stay spent.
  func retry(afterChangeOf path: String, _ transaction: any StoreTransaction, now: WallTime) throws {
    for id in awaitedRetries.requests(awaiting: path) {
      guard var record = try transaction.request(id), !record.state.isFinal else {
        awaitedRetries.remove(id)
        continue
      }
      guard record.isInBackoff, record.due > now + Self.quietTime else { continue }
      record.due = now + Self.quietTime
      try transaction.update(record)
      turn.changes += 1
      handlers[record.request.identifier]?.forgetDue(of: record)
      becamePending(record)
      note(record)
    }
  }
}
