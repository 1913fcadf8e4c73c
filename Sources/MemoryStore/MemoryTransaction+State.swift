import TaskModel

extension MemoryTransaction {
  func setState(_ key: String, to value: [UInt8]?, of identifier: TaskIdentifier) throws {
    let owner = owners[identifier] ?? MemoryOwner()
    let key = ExactText(key)
    let before = owner.state[key]
    if let value {
      let keys = owner.state.count - (before == nil ? 0 : 1)
      let bytes = owner.stateBytes - (before?.count ?? 0) + value.count
      guard keys < Limits.stateKeys else {
        throw StoreError.limit("\(identifier) has \(keys) state keys, the most there may be: delete some")
      }
      guard bytes <= Limits.stateBytes else {
        throw StoreError.limit("the state of \(identifier) would have \(bytes) bytes, more than \(Limits.stateBytes): delete some")
      }
    }
    owners[identifier] = owner
    func put(_ value: [UInt8]?) {
      owner.stateBytes += (value?.count ?? 0) - (owner.state[key]?.count ?? 0)
      owner.state[key] = value
    }
    put(value)
    undo { put(before) }
  }

  func setCheckpoint(_ value: [UInt8]?, of request: RequestID) throws {
    let before = checkpoints[request.sequence]
    checkpoints[request.sequence] = value
    undo { [unowned self] in checkpoints[request.sequence] = before }
  }

  /// A request's run is nowhere any more.
  func removeCheckpoint(of sequence: Int64) {
    guard let before = checkpoints.removeValue(forKey: sequence) else { return }
    undo { [unowned self] in checkpoints[sequence] = before }
  }

  func standings() throws -> [TaskIdentifier: Standing] { standingOf }

  func setStanding(_ standing: Standing?, of identifier: TaskIdentifier) throws {
    let before = standingOf[identifier]
    standingOf[identifier] = standing
    undo { [unowned self] in standingOf[identifier] = before }
  }

  // MARK: History

  func append(_ run: RunRecord) throws {
    guard runs[run.id.sequence] == nil else { throw StoreError.other("there is a run \(run.id) already") }
    put(Self.kept(run))
    undo { [unowned self] in remove(run.id.sequence) }
  }

  /// The run as it is read again.
  private static func kept(_ run: RunRecord) -> RunRecord {
    var kept = run
    kept.ended = run.ended ?? run.started
    kept.outcome = run.outcome ?? .lost
    (kept.report.incident, kept.report.retryAfter, kept.report.began, kept.report.handlerTime) = (nil, nil, nil, nil)
    return kept
  }

  private func put(_ run: RunRecord) {
    runs[run.id.sequence] = run
    runOrder.insert(SortedKeys.Key(rank: run.id.sequence, id: run.id.sequence))
  }

  private func remove(_ run: Int64) {
    runs[run] = nil
    runOrder.remove(SortedKeys.Key(rank: run, id: run))
  }

  func prune(before horizon: WallTime, keeping count: Int, limit: Int) throws -> Bool {
    var old: [Int64] = []
    runOrder.visit { key in
      if let ended = runs[key.id]?.ended, ended < horizon { old.append(key.id) }
      return old.count < limit
    }
    forget(old)
    let excess = runOrder.prefix(through: .max, limit: min(limit, max(0, runOrder.count - count))).map(\.id)
    forget(excess)
    // A request goes at the same age as a run. Where the count has removed younger runs, so do the requests that ended before the oldest
    // run that is left began: they have no run left.
    var age = horizon
    if runOrder.count >= max(count, 1) {
      var left = max(count, 1)
      runOrder.visitReversed { key in
        left -= 1
        if left == 0, let oldest = runs[key.id] { age = max(age, oldest.started) }
        return left > 0
      }
    }
    let requests = ended.prefix(through: age.unixMilliseconds - 1, limit: limit).compactMap { rows[$0.id] }
    for row in requests {
      setEdges(nil, of: row.sequence)
      remove(row)
      undo { [unowned self] in restore(row) }
    }
    // What was submitted under a key is known as long as its records are: one that waits for long outlives the horizon.
    let forgotten = submissions.filter { $0.value.submitted < horizon && row($0.value.request) == nil }
    for (key, _) in forgotten.prefix(limit) { setSubmission(nil, key) }
    for (key, _) in windows.filter({ $0.value.until < horizon }).prefix(limit) { setWindow(nil, key) }
    return max(old.count, excess.count) == limit || requests.count == limit
  }

  private func forget(_ sequences: [Int64]) {
    for sequence in sequences {
      guard let run = runs[sequence] else { continue }
      remove(sequence)
      undo { [unowned self] in put(run) }
    }
  }
}
