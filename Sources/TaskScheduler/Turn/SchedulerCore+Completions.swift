import TaskModel

/// What became of the report of a request's end.
enum Told {
  /// Nobody waits for it.
  case nobody
  /// A request of this identifier has it.
  case told(TaskIdentifier)
  /// Somebody waits, and cannot be told.
  case failed(String)

  var isTold: Bool { if case .told = self { true } else { false } }

  /// A message of the end, with what became of its report.
  func note(_ message: String?) -> String? {
    let note: String
    switch self {
    case .nobody: return message
    case .told(let identifier): note = "\(identifier) was told"
    case .failed(let reason): note = "nobody was told: \(reason)"
    }
    return message.map { "\($0); \(note)" } ?? note
  }
}

extension SchedulerCore {
  /// Has removed what a request may have left that ended without another run, see ``CompletionRule``. If that is refused, a later run of the
  /// identifier finds it.
  func sweep(after record: RequestRecord, _ transaction: any StoreTransaction, now: WallTime) throws {
    guard let rule = completions, rule.identifier == record.request.identifier, record.lastOutcome != nil,
      let request = rule.sweep(record)
    else { return }
    do { try transaction.savepoint { _ = try submit(request, by: .completion, transaction, now: now) } } catch is RequestRefusal {}
  }

  /// Submits the report of a request's end to who waits for it, see ``CompletionRule``. What refuses it is in the result.
  ///
  /// - Parameter output: Of the run that ended; nil takes that of the last one.
  func tellEnd(
    of record: RequestRecord, as state: RequestState, output: [UInt8]? = nil, _ transaction: any StoreTransaction, now: WallTime
  ) throws -> Told {
    guard let rule = completions, rule.identifier == record.request.identifier, !record.request.isUntold else { return .nobody }
    var ended = record
    do {
      ended.request.payload = try transaction.submittedPayload(of: record.id)
      let output = try output ?? transaction.output(of: record.id) ?? []
      guard let request = try rule.request(ended, state, output) else { return .nobody }
      try transaction.savepoint { _ = try submit(request, by: .completion, transaction, now: now) }
      return .told(request.identifier)
    } catch let refusal as RequestRefusal { return .failed(refusal.message) }
  }
}
