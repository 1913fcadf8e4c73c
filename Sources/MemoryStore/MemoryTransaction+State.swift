import TaskModel

extension MemoryTransaction {
  func setState(_ key: String, to value: [UInt8]?, of identifier: TaskIdentifier) throws {
    let owner = owners[identifier] ?? MemoryOwner()
    let key = ExactText(key)
    let before = owner.state[key]
    if let value {
      try Limits.checkState(
        of: identifier, otherKeys: owner.state.count - (before == nil ? 0 : 1),
        bytes: owner.stateBytes - (before?.count ?? 0) + value.count)
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
    set(value, over: checkpoints[request.sequence]) { $0.checkpoints[request.sequence] = $1 }
  }

  /// Removes a request's checkpoint.
  func removeCheckpoint(of sequence: Int64) {
    if checkpoints[sequence] != nil { set(nil, over: checkpoints[sequence]) { $0.checkpoints[sequence] = $1 } }
  }

  func pluginHealth() throws -> [TaskIdentifier: PluginHealth] { healthOf }

  func setHealth(_ health: PluginHealth?, of identifier: TaskIdentifier) throws {
    set(health, over: healthOf[identifier]) { $0.healthOf[identifier] = $1 }
  }

  // MARK: History

  func append(_ run: RunRecord) throws {
    guard runs[run.id.sequence] == nil else { throw StoreError.other("run \(run.id) already exists") }
    let kept = Self.kept(run)
    let key = scheduleKey(of: kept)
    put(kept, key)
    undo { [unowned self] in remove(run.id.sequence) }
    note(kept, key)
  }

  /// The run in the form that a later read returns.
  private static func kept(_ run: RunRecord) -> RunRecord {
    var kept = run
    kept.ended = run.ended ?? run.started
    kept.outcome = run.outcome ?? .lost
    (kept.report.incident, kept.report.retryAfter, kept.report.began) = (nil, nil, nil)
    return kept
  }

  private func put(_ run: RunRecord, _ key: ScheduleKey?) {
    runs[run.id.sequence] = run
    schedulesOfRuns[run.id.sequence] = key
    runOrder.insert(SortedKeys.Key(rank: run.id.sequence, id: run.id.sequence))
    runsOf[run.request.sequence, default: []].insert(run.id.sequence)
  }

  private func remove(_ run: Int64) {
    if let request = runs.removeValue(forKey: run)?.request.sequence {
      runsOf[request]?.remove(run)
      if runsOf[request]?.isEmpty == true { runsOf[request] = nil }
    }
    schedulesOfRuns[run] = nil
    runOrder.remove(SortedKeys.Key(rank: run, id: run))
  }

  /// Removes these runs from the history, and their schedules with them.
  func forgetRuns(_ sequences: [Int64]) {
    for key in Set(sequences.compactMap { schedulesOfRuns[$0] }) { set(nil, over: schedules[key]) { $0.schedules[key] = $1 } }
    forget(sequences)
  }

  private func forget(_ sequences: [Int64]) {
    for sequence in sequences {
      guard let run = runs[sequence] else { continue }
      let key = schedulesOfRuns[sequence]
      remove(sequence)
      undo { [unowned self] in put(run, key) }
    }
  }

  // MARK: Schedules

  private func scheduleKey(of run: RunRecord) -> ScheduleKey {
    let record = row(run.request)?.record
    let subject: ScheduleKey.Subject =
      if let key = record?.request.uniqueKey {
        .key(ExactText(key))
      } else if record?.isRepeating == true {
        .request(run.request.sequence)
      } else {
        .others
      }
    return ScheduleKey(identifier: run.identifier, subject: subject)
  }

  private func note(_ run: RunRecord, _ key: ScheduleKey) {
    let before = schedules[key] ?? MemorySchedule()
    var schedule = before
    schedule.run = run.id.sequence
    if run.outcome?.isSuccess == true {
      (schedule.success, schedule.lastSuccess) = (run.id.sequence, run.ended)
      (schedule.failures, schedule.failingSince) = (0, nil)
    } else if run.outcome?.isFailure == true {
      schedule.failures += 1
      schedule.failingSince = schedule.failingSince ?? run.ended
    }
    set(schedule, over: schedules[key]) { $0.schedules[key] = $1 }
    let dropped = [before.run, before.success].compactMap(\.self).filter { $0 != schedule.run && $0 != schedule.success }
    forget(Set(dropped).filter { $0 <= pruning.through })
  }

  /// Removes the record of a removed repeating request, or of the unique key of a removed request if no other one has that and the identifier
  /// has many, if the identifier has run since, and succeeded since the record's last success.
  private func forgetSchedule(of row: MemoryRow) {
    let (identifier, uniqueKey) = (row.record.request.identifier, row.record.request.uniqueKey)
    let key = ScheduleKey(identifier: identifier, subject: uniqueKey.map { .key(ExactText($0)) } ?? .request(row.sequence))
    guard let schedule = schedules[key] else { return }
    if let uniqueKey {
      let last = schedule.run.flatMap { runs[$0]?.request.sequence }
      guard last == row.sequence || last.flatMap({ rows[$0] }) == nil, holders[OwnedKey(uniqueKey, of: identifier)] == nil,
        schedules.keys.filter({ $0.identifier == identifier && $0.subject.key != nil }).count > ScheduleRecord.keysKept
      else { return }
    }
    let others = schedules.filter { $0.key.identifier == key.identifier && $0.key != key }.values
    guard others.contains(where: { $0.run ?? 0 > schedule.run ?? 0 }),
      schedule.success == nil || others.contains(where: { $0.success ?? 0 > schedule.success ?? 0 })
    else { return }
    set(nil, over: schedules[key]) { $0.schedules[key] = $1 }
    forget(Set([schedule.run, schedule.success].compactMap(\.self)).filter { $0 <= pruning.through })
  }

  private func isNeeded(_ run: Int64) -> Bool {
    guard let schedule = schedulesOfRuns[run].flatMap({ schedules[$0] }) else { return false }
    return schedule.run == run || schedule.success == run
  }

  // MARK: Pruning

  func prune(before horizon: WallTime, keeping count: Int, limit: Int) throws -> Bool {
    let (progress, highest) = (pruning, highestRemoved)
    undo { [unowned self] in (pruning, highestRemoved) = (progress, highest) }
    var behind: [Int64] = []
    runOrder.visitReversed { key in
      guard key.id > pruning.through else { return false }
      behind.append(key.id)
      return true
    }
    let slice = behind.suffix(limit).reversed().map { run in
      (sequence: run, ended: runs[run]?.ended?.unixMilliseconds ?? 0, isNeeded: isNeeded(run))
    }
    let (removed, passed) = pruning.choose(
      from: slice, excess: max(0, behind.count - count), old: RunID(firstAt: horizon, origin: origin).sequence,
      horizon: horizon.unixMilliseconds)
    forget(removed)
    behind.removeLast(passed)
    // A request is removed at the same age as a run. If the count limit has removed younger runs, requests that ended before the oldest
    // remaining run started are removed too: they have no runs left.
    var age = horizon
    if behind.count >= max(count, 1), let oldest = runs[behind[max(count, 1) - 1]] { age = max(age, oldest.started) }
    let requests = finished(before: age, limit: limit)
    for row in requests {
      setEdges(nil, of: row.sequence)
      forgetSchedule(of: row)
      remove(row)
      undo { [unowned self] in restore(row) }
    }
    highestRemoved = max(highestRemoved, removed.max() ?? 0, requests.map(\.sequence).max() ?? 0)
    // An idempotency key is kept as long as its request, because a long-waiting request outlives the horizon.
    let forgotten = submissions.filter { $0.value.submitted < horizon && row($0.value.request) == nil }
    for (key, _) in forgotten.prefix(limit) { set(nil, over: submissions[key]) { $0.submissions[key] = $1 } }
    for (key, _) in windows.filter({ $0.value.until < horizon }).prefix(limit) { set(nil, over: windows[key]) { $0.windows[key] = $1 } }
    return passed == limit || requests.count == limit
  }

  /// The requests that succeeded or were cancelled, in the order in which they ended.
  private func finished(before time: WallTime, limit: Int) -> [MemoryRow] {
    var found: [MemoryRow] = []
    ended.visit { key in
      guard key.rank < time.unixMilliseconds else { return false }
      if let row = rows[key.id], row.record.state != .failed { found.append(row) }
      return found.count < limit
    }
    return found
  }
}
