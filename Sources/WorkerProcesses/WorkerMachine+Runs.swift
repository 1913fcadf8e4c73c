import TaskModel
import WorkerLink

/// The runs: given, sent, begun, taken back, stopped.
extension WorkerMachine {
  mutating func adopt(_ registrations: [HandlerRegistration], _ contracts: [HandlerContract]) {
    expected = registrations
    self.contracts = Dictionary(contracts.map { ($0.identifier, $0) }) { first, _ in first }
    switch phase {
    case .serving, .idle: effects.append(.send(.contracts(contracts)))
    case .none, .spawning, .launching, .stopping, .killed: break
    }
  }

  mutating func start(_ orders: [RunOrder], at now: Moment) {
    guard !orders.isEmpty else { return }
    for order in orders {
      runs[order.run] = WorkerRun(order: order)
      self.order.append(order.run)
    }
    if engage() { sendWaiting(at: now) }
  }

  mutating func withdraw(_ ids: [RunID], at now: Moment) {
    var asked: [RunID] = []
    for id in ids {
      guard let entry = runs[id], entry.askedBack == nil else { continue }
      if entry.began != nil {
        tell(.began(id))
      } else if !entry.isSent {
        _ = remove(id, at: now)
        tell(.withdrawn(id))
      } else {
        runs[id]?.askedBack = now.time
        asked.append(id)
      }
    }
    // A process that ends meanwhile says by its end which of them had begun.
    guard !asked.isEmpty, phase == .serving else { return }
    effects.append(.wake(at: now.time + Self.answerLimit))
    for start in stride(from: 0, to: asked.count, by: LinkFormat.batchCount) {
      effects.append(.send(.withdraw(Array(asked[start..<min(start + LinkFormat.batchCount, asked.count)]))))
    }
  }

  mutating func expire(_ run: RunID, _ reason: StopReason, at now: Moment) {
    guard let entry = runs[run], entry.stop == nil else { return }
    guard entry.isSent else { return endUnsent(run, reason, at: now) }
    guard phase == .serving else { return }
    runs[run]?.expire(reason, at: now.time)
    wakeForEnd(of: run)
    effects.append(.send(.expire(run, reason)))
  }

  mutating func force(_ run: RunID, _ reason: StopReason, at now: Moment) {
    guard let entry = runs[run] else { return }
    guard entry.isSent else { return endUnsent(run, reason, at: now) }
    kill(forcing: run, reason: entry.stop ?? reason)
  }

  /// Ends a run that no process was sent: nothing of it has run.
  private mutating func endUnsent(_ run: RunID, _ reason: StopReason, at now: Moment) {
    _ = remove(run, at: now)
    var report = RunReport()
    report.stopReason = reason
    tell(.ended(run, .returned(.retry, stop: reason), report))
  }

  /// Sends what was not sent, in order.
  mutating func sendWaiting(at now: Moment) {
    let ids = Array(order.reversed().prefix { runs[$0]?.isSent == false }.reversed())
    guard !ids.isEmpty else { return }
    present?.conduct.noteSent(ids.count)
    for id in ids { runs[id]?.send(at: now) }
    for id in ids { beginIfFree(id, at: now) }
    for batch in HostMessage.batches(of: ids.compactMap { runs[$0]?.wireOrder }) { effects.append(.send(.start(batch))) }
  }

  /// A run counts as running once its identifier has fewer running than its contract allows.
  private mutating func beginIfFree(_ run: RunID, at now: Moment) {
    guard let entry = runs[run], entry.isSent, entry.began == nil, entry.askedBack == nil else { return }
    let contract = entry.order.contract
    guard begun[contract.identifier, default: 0] < contract.maxConcurrentRuns else { return }
    begin(run, at: now)
  }

  /// A run that was sent has begun.
  mutating func begin(_ run: RunID, at now: Moment) {
    guard var entry = runs[run], entry.isSent, entry.began == nil else { return }
    begun[entry.order.contract.identifier, default: 0] += 1
    entry.askedBack = nil
    entry.begin(at: now)
    runs[run] = entry
    if entry.order.isAhead, !entry.order.tellsBegin { untold.append(run) }
    wakeForEnd(of: run)
  }

  /// Tells of begins; those of runs that have ended since are told by their ends.
  mutating func tellBegins() {
    guard !untold.isEmpty else { return }
    for run in untold where runs[run] != nil { tell(.began(run)) }
    untold.removeAll(keepingCapacity: true)
  }

  /// Takes a run out; the next that waits behind it counts as running.
  mutating func remove(_ run: RunID, at now: Moment) -> WorkerRun? {
    guard let entry = runs.removeValue(forKey: run) else { return nil }
    if let position = order.firstIndex(of: run) { order.remove(at: position) }
    guard entry.began != nil else { return entry }
    let identifier = entry.order.contract.identifier
    begun[identifier] = max(0, begun[identifier, default: 1] - 1)
    if runs.count > (begun[identifier] ?? 0),
      let next = order.first(where: {
        runs[$0].map { $0.isSent && $0.began == nil && $0.askedBack == nil && $0.order.contract.identifier == identifier } ?? false
      })
    {
      beginIfFree(next, at: now)
    }
    return entry
  }

  mutating func wakeForEnd(of run: RunID) {
    if let force = runs[run]?.force { effects.append(.wake(at: force.end)) }
  }

  mutating func tell(_ event: LauncherEvent) { effects.append(.tell(event)) }
}
