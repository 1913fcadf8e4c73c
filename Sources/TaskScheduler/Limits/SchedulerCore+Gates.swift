import SchedulingLimits
import TaskModel

/// The gates that may hold a lane, apart from its requests' own times.
enum GateKind: String, Sendable, CaseIterable {
  case paused, pause, health = "standing", suspended, shortage, plugin = "plugin_busy", conditions, idleStage = "idle_stage", window
  case key = "key_busy", resource, rate, quota, host = "host_busy"
}

struct Hold {
  let gate: GateKind
  /// When it opens by itself; nil if only an event opens it.
  var until: WallTime?
}

extension SchedulerCore {
  /// Whether due requests of the lane may begin at `now`: the fast form of ``holds(on:of:now:)``.
  func isOpen(_ lane: LaneState, of handler: HandlerState, now: WallTime) -> Bool {
    var isOpen = true
    visitHolds(on: lane, of: handler, now: now) { _ in
      isOpen = false
      return false
    }
    return isOpen
  }

  /// When the lane opens by itself, as far as known at `now`: when its last closed gate opens; nil if an event must happen first.
  func opening(of lane: LaneState, _ handler: HandlerState, now: WallTime) -> WallTime? {
    var opening: WallTime? = now
    visitHolds(on: lane, of: handler, now: now) { hold in
      if hold.gate == .plugin || hold.gate == .host { return true }
      guard let until = hold.until else {
        opening = nil
        return false
      }
      opening = max(opening ?? until, until)
      return true
    }
    return opening
  }

  func holds(on lane: LaneState, of handler: HandlerState, now: WallTime) -> [Hold] {
    var holds: [Hold] = []
    visitHolds(on: lane, of: handler, now: now) {
      holds.append($0)
      return true
    }
    return holds
  }

  /// Calls `body` with each closed gate until it returns false. Dispatch and `why` both use this, so they agree.
  private func visitHolds(on lane: LaneState, of handler: HandlerState, now: WallTime, _ body: (Hold) -> Bool) {
    if lane.gates.isPaused { guard body(Hold(gate: .paused)) else { return } }
    if let until = pausedUntil(lane, of: handler, now: now) {
      guard body(Hold(gate: .pause, until: until < .distantFuture ? until : nil)) else { return }
    }
    if let until = handler.heldUntil, now < until {
      guard body(Hold(gate: .health, until: until < .distantFuture ? until : nil)) else { return }
    }
    if handler.suspension != nil { guard body(Hold(gate: .suspended)) else { return } }
    if let until = handler.shortage?.until, now < until { guard body(Hold(gate: .shortage, until: until)) else { return } }
    if !lane.gates.conditions.isEmpty, let conditions, !conditions.held.isSuperset(of: lane.gates.conditions) {
      guard body(Hold(gate: .conditions)) else { return }
    }
    if let state = idleState(for: lane, of: handler, now: now), !state.isWindow {
      guard body(Hold(gate: .idleStage, until: state.opens)) else { return }
    }
    if let window = lane.gates.window, let opening = windows.opening(of: window, now: now) {
      guard body(Hold(gate: .window, until: opening < .distantFuture ? opening : nil)) else { return }
    }
    let identifier = handler.contract.identifier
    if limits.concerns(lane, of: identifier) {
      let live = limits.hasQuota(identifier) ? liveStarts(of: identifier) : []
      guard limits.visitHolds(on: lane, of: handler.contract, live: live, now: now, body) else { return }
    }
    guard handler.suspension == nil else { return }
    if handler.freeSlots > 0 ? freeHostSlots <= 0 : slotsAhead(lane, handler) <= 0 {
      guard body(Hold(gate: handler.freeSlots > 0 ? .host : .plugin)) else { return }
    }
  }

  /// The idle stage that concerns a lane; nil if there is none. It holds neither what a person has started nor what is past its deadline.
  func idleState(for lane: LaneState, of handler: HandlerState, now: WallTime) -> IdleStages.State? {
    guard let stages = policy.idleStages, handler.contract.kind != .continued, !lane.gates.isPastDeadline else { return nil }
    return conditions?.restingSince.flatMap { stages.state(at: now, restingSince: $0) }
  }

  /// The begins of runs whose run time the quota does not count yet: live runs, and runs that end in this turn.
  func liveStarts(of identifier: TaskIdentifier) -> [WallTime] {
    live.values.filter { $0.identifier == identifier }.map(\.started)
      + turn.unmeasured.filter { $0.identifier == identifier }.map(\.started)
  }

  /// The conditions that requests wait for or runs depend on.
  func awaitedConditions(now: WallTime) -> Conditions {
    var awaited: Conditions = []
    for lane in agenda.lanes(dueBy: now) where !lane.gates.isPaused {
      if let handler = lane.handler, pausedUntil(lane, of: handler, now: now) != nil { continue }
      awaited.formUnion(lane.gates.conditions)
    }
    for entry in live.values where entry.gates.onLostCondition == .stop && !entry.isSimulated { awaited.formUnion(entry.gates.conditions) }
    awaited.formUnion(fleetAwaits.conditions)
    for event in awaitedHostEvents { awaited.formUnion(HostEvents.condition(of: event)) }
    if policy.idleStages != nil {
      // On external power, no stage begins, whether the machine is idle or not.
      awaited.formUnion(.power)
      if conditions?.isOnBattery == true { awaited.formUnion(.idle) }
    }
    return awaited
  }

  /// The runs that must stop because a condition they require no longer holds.
  func runsThatLost(_ report: ConditionReport) -> [RunID] {
    let lost = report.lost
    return live.values.filter { entry in
      entry.gates.onLostCondition == .stop && !entry.isSimulated && !lost.isDisjoint(with: entry.gates.conditions)
    }.map(\.run).sorted()
  }
}
