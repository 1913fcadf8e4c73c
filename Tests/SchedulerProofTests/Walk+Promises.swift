import SchedulingLimits
import StoreTestSupport
import TaskModel

@testable import TaskScheduler

extension Walk {
  /// What is so after every turn.
  func check() throws {
    // An occurrence that is skipped takes a turn of its own, and what waits behind it the next.
    for _ in 0..<50 where host.core.mayDispatch(now: host.now) { try host.turn() }
    let (running, claimed, waiting) = try host.store.commit { transaction in
      (
        try transaction.running(), try transaction.claimed(),
        try (ProofWorld.identifiers + [ProofWorld.absent]).flatMap { try transaction.waiting(of: $0) }
      )
    }
    try checkBooks(running, claimed)
    try checkLimits()
    try checkHealth()
    for record in waiting where record.state == .pending { try checkPending(record) }
    for record in waiting where record.state == .blocked { try checkBlocked(record) }
    try checkMemory(waiting)
    try checkEnds()
  }

  /// One live run of each request; store, memory and launcher agree on them.
  private func checkBooks(_ running: [RequestRecord], _ claimed: [RequestRecord]) throws {
    let (core, live, ahead) = (host.core, host.core.live, Set(host.core.claims.keys))
    try promise(
      Set(running.compactMap(\.run)) == Set(live.keys).subtracting(core.unrecorded),
      "the store has the runs \(running.map(\.run)), memory \(live.keys)")
    try promise(
      Set(claimed.compactMap(\.run)) == ahead.union(core.unrecorded), "the store has \(claimed.map(\.run)) ahead, memory \(ahead)")
    try promise(
      Set(host.orders.keys) == Set(live.keys).union(ahead), "the launcher has \(host.orders.keys), memory \(live.keys) and \(ahead)")
    tally.ahead = max(tally.ahead, ahead.count)
    for record in claimed { try promise(record.stopRequested == nil, "\(record) is claimed and asked to stop") }
    try promise(Set(live.values.map(\.request)).count == live.count, "a request has two runs: \(live.values)")
    for record in running {
      guard let run = record.run, let entry = live[run] else { continue }
      // One that is believed to repeat is looked up; one that is not is ended without.
      try promise(entry.isRepeating || !record.isRepeating, "\(run): \(entry) is of \(record)")
      try promise(
        entry.stopRequested == record.stopRequested,
        "\(run) was asked to stop by \(String(describing: record.stopRequested)), memory has \(entry)")
    }
  }

  private func checkLimits() throws {
    let core = host.core
    // What waits in a queue takes no slot, but for those that the runs in front of it leave free.
    let queued = core.claims.values.filter { !$0.isHeld }
    let slots = host.contracts.reduce(0) { sum, contract in
      let count = core.live.values.count { $0.identifier == contract.identifier }
      return sum + min(contract.maxConcurrentRuns, count + queued.count { $0.entry.identifier == contract.identifier })
    }
    // One that an operator launched is beyond all limits but its plugin's.
    let limited = core.live.values.filter { !$0.isSimulated }
    let isWithin = slots <= host.policy.maxConcurrentRuns || limited.count < core.live.count
    try promise(
      limited.count <= host.policy.maxConcurrentRuns && core.occupiedSlots == slots && isWithin,
      "\(core.live.count) runs, \(core.occupiedSlots) slots, not \(slots)")
    for claim in queued {
      let identifier = claim.entry.identifier
      try promise(
        host.policy.rate == nil && host.policy.limits[identifier]?.holdsRuns != true && claim.entry.gates.resources.isEmpty
          && claim.entry.gates.concurrencyKey == nil && claim.entry.gates.window == nil, "\(claim) has limits and waits in a queue")
    }
    for contract in host.contracts {
      let count = core.live.values.count { $0.identifier == contract.identifier }
      try promise(count <= contract.maxConcurrentRuns, "\(count) runs of \(contract.identifier)")
      try promise(core.handlers[contract.identifier]?.running == count, "\(contract.identifier) counts its runs wrongly")
    }
    var taken: [String: Int] = [:]
    var keys: [String: Int] = [:]
    var overdrawn: [String: Int] = [:]
    for entry in core.live.values {
      let limits = host.policy.limits[entry.identifier]
      for (name, number) in entry.gates.resources.merging(limits?.resources ?? [:], uniquingKeysWith: max) {
        if entry.isSimulated { overdrawn[name, default: 0] += number } else { taken[name, default: 0] += number }
      }
      guard let key = entry.gates.concurrencyKey, !entry.isSimulated else { continue }
      keys["\(entry.identifier) \(key)", default: 0] += 1
      try promise(keys["\(entry.identifier) \(key)", default: 0] <= limits?.runsPerKey ?? 1, "too many runs with the key \(key)")
    }
    for (name, number) in host.policy.resources {
      try promise(taken[name, default: 0] <= number, "\(taken[name, default: 0]) of \(number) \(name) are taken")
      let free = max(0, number - taken[name, default: 0] - overdrawn[name, default: 0])
      try promise(core.limits.resources.free(name) == free, "the free \(name) are counted wrongly")
    }
  }

  /// The plugins' health is what their endings make it, in memory and in the store.
  private func checkHealth() throws {
    let core = host.core
    var stored = try host.store.commit { try $0.pluginHealth() }
    for (identifier, health) in core.pluginHealth {
      // A time that a calendar set back made too long is cut short in memory only.
      guard let until = health.heldUntil, let written = stored[identifier]?.heldUntil, until < written else { continue }
      stored[identifier]?.heldUntil = until
    }
    try promise(stored == core.pluginHealth, "the standings of the store are others than those in memory")
    for identifier in ProofWorld.identifiers {
      var health = core.pluginHealth[identifier] ?? PluginHealth()
      health.lastTrouble = nil
      // How far a hold moves with a calendar that is set is not worked out here.
      if tally.jumps > 0, health.heldUntil != nil, pluginHealth[identifier]?.heldUntil != nil {
        pluginHealth[identifier]?.heldUntil = health.heldUntil
      }
      try promise(
        health == pluginHealth[identifier] ?? PluginHealth(),
        "\(identifier): \(health) is not \(pluginHealth[identifier] ?? PluginHealth())")
    }
  }

  /// A request that is due and was not started has a gate that says why; one that is due later will be thought of.
  private func checkPending(_ record: RequestRecord) throws {
    let (core, now) = (host.core, host.now)
    // A host that drains has no use for it.
    if let deadline = record.request.deadline, deadline <= now, !core.isDraining {
      try promise(record.isRelaxed, "\(record.id) is past its deadline and not relaxed")
    }
    if record.due <= now {
      let gates = core.explanation(of: record, now: now).gates
      for gate in gates { tally.gates[gate.kind, default: 0] += 1 }
      try promise(!gates.isEmpty, "\(record) is due, was not started, and nothing holds it")
      try promise(gates.allSatisfy { !$0.sentence.isEmpty }, "a gate of \(record.id) says nothing: \(gates)")
    }
    guard let handler = core.handlers[record.request.identifier], record.due < .distantFuture else { return }
    guard let lane = handler.lanes[record.gates], let first = lane.nextDue.earliest else {
      throw ProofFailure("\(record) is forgotten: its lane is not known, or believed to be empty")
    }
    try promise(first <= record.due, "\(record) is thought of only at \(first)")
    guard !core.isDraining, handler.freeSlots > 0, core.freeHostSlots > 0 else { return }
    let wake = max(now, record.due + record.gates.flex)
    guard let opening = core.opening(of: lane, handler, now: wake) else { return }
    let next = core.nextTurn(now: now)
    try promise(
      next.map { $0 <= max(wake, opening) } ?? false,
      "\(record) could begin at \(max(wake, opening)), and the host sleeps until \(next as Any)")
  }

  /// A request that waits for others waits for one that is there.
  private func checkBlocked(_ record: RequestRecord) throws {
    let open = try host.store.edges(of: record.id).filter { $0.ended == nil }
    try promise(!open.isEmpty, "\(record) is blocked by nothing")
    for edge in open {
      let predecessor = try host.store.request(edge.predecessor)
      try promise(predecessor.map { !$0.state.isFinal } ?? false, "\(record.id) waits for \(edge.predecessor), which has ended")
      try promise(edge.predecessor < record.id, "\(record.id) waits for the younger \(edge.predecessor)")
    }
    let gates = host.core.explanation(of: record, edges: open, now: host.now).gates
    try promise(gates.contains { $0.kind == "predecessor" }, "\(record.id) is blocked and its gates do not say by whom: \(gates)")
  }

  /// What memory has of the store is not wrong in the direction in which something is forgotten.
  private func checkMemory(_ waiting: [RequestRecord]) throws {
    let (core, now) = (host.core, host.now)
    try promise(!core.mayDispatch(now: now), "the host would turn again at once: \(openLanes())")
    if let next = core.nextTurn(now: now) { try promise(next > now, "the host would wake at \(next), which has passed") }
    try host.store.commit { transaction in
      for identifier in ProofWorld.identifiers {
        guard let count = core.liveCounts[identifier] else { continue }
        let stored = try transaction.liveCount(of: identifier)
        try promise(count == stored, "\(identifier) has \(stored) live requests, memory \(count)")
      }
      if let awaited = core.awaited {
        let stored = try transaction.awaitedPredecessors()
        try promise(awaited.isSuperset(of: stored), "dependants of \(stored.subtracting(awaited)) are forgotten")
      }
      if let deadline = try transaction.nextDeadline(), !core.isDraining {
        try promise(core.nextDeadline.earliest.map { $0 <= deadline } ?? false, "the deadline \(deadline) is forgotten")
      }
    }
    let keys = waiting.compactMap { record in record.request.uniqueKey.map { "\(record.request.identifier) \($0)" } }
    try promise(Set(keys).count == keys.count, "a unique key has two holders: \(keys)")
  }

  /// The lanes in which something is believed to be due that nothing holds.
  private func openLanes() -> [String] {
    let (core, now) = (host.core, host.now)
    return core.handlers.values.flatMap { handler in
      handler.lanes.values.filter { lane in
        (lane.wakeTime.map { $0 <= now + host.policy.claimAhead } ?? false) && core.isOpen(lane, of: handler, now: now)
      }.map { "\(handler.contract.identifier) \($0.gates) \($0.nextDue)" }
    } + ["deadline \(core.nextDeadline)"]
  }

  /// What repeats ends by being cancelled only.
  private func checkEnds() throws {
    var left: [RequestID] = []
    for id in ids {
      guard let record = try host.store.request(id) else { continue }
      if record.isRepeating, record.state.isFinal { try promise(record.state == .cancelled, "\(record) repeats and has ended") }
      if !record.state.isFinal || chance(4) { left.append(id) }
    }
    ids = left
  }

  // MARK: The end

  /// Everything is permitted, and time passes: each request ends, or waits for something that nobody but others can bring.
  func settleAll() throws {
    event = "the end"
    if host.core.isDraining {
      forgetStarts(reboot: false)
      try host.restart()
    }
    for handler in host.core.handlers.values { handler.suspension = nil }
    pluginHealth = [:]
    for identifier in ProofWorld.identifiers { try host.turn { core, transaction in _ = try core.release(identifier, transaction) } }
    conditions = .all
    try host.set(ProofWorld.report(.all, now: host.now))
    var turns = 0
    while true {
      turns += 1
      try promise(turns < 2000, "the host does not come to rest")
      latest = max(latest, host.now)
      trace("\(host.orders.count) runs, next start \(host.core.nextTurn(now: host.now) as Any), \(openLanes())")
      if let run = host.orders.keys.filter({ host.held[$0] == nil }).min(), let order = host.orders[run] {
        if host.core.live[run]?.isRepeating == true, known[order.request]?.isStopped == false {
          try host.turn { [self] core, transaction in _ = try core.cancel(order.request, transaction, now: host.now) }
          known[order.request]?.isStopped = true
        }
        ending = (run, .returned(.success, stop: host.expirations[run]))
        try host.end(run, .returned(.success, stop: host.expirations[run]))
      } else if let time = host.held.values.min() {
        host.pass(to: time)
        try host.turn()
      } else if let next = host.core.nextTurn(now: host.now), next < .distantFuture {
        host.pass(to: next)
        try host.turn()
      } else {
        break
      }
    }
    try check()
    try checkRest()
  }

  private func checkRest() throws {
    let left = try host.store.commit { transaction in
      try (ProofWorld.identifiers + [ProofWorld.absent]).flatMap { try transaction.waiting(of: $0) }
    }
    for record in left {
      let kinds = Set(host.core.explanation(of: record, edges: try host.store.edges(of: record.id), now: host.now).gates.map(\.kind))
      try promise(
        !kinds.isDisjoint(with: ["event", "predecessor", "no_handler"]), "\(record) is left over when everything is permitted: \(kinds)")
    }
  }
}
