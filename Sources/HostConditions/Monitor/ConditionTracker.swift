import TaskModel

/// One observed condition with its hysteresis, its override and its state.
struct ConditionTracker: Sendable {
  let condition: Conditions
  private let fresh: Settling
  private let every: Duration?
  private var settling: Settling
  private var override: Override?
  private var isSampled = false
  private var nextSample: MonotonicTime?
  private var seen: String
  private var state: ConditionState

  private struct Override {
    var holds: Bool
    var since: WallTime
  }

  /// - Parameters:
  ///   - settling: The hysteresis before the first reading.
  ///   - every: How often to read it while observed; nil if events report it.
  init(_ condition: Conditions, settling: Settling, every: Duration? = nil, at wall: WallTime) {
    self.condition = condition
    self.fresh = settling
    self.every = every
    self.settling = settling
    seen = Self.unobserved
    state = ConditionState(condition: condition, holds: false, since: wall, observed: seen, isWatched: false, isRead: false)
  }

  private static let unobserved = "not observed: no request that is due waits for it"

  /// - Parameter isNetworkDenied: Whether an operator overrode the network to not hold.
  func report(isNetworkDenied: Bool) -> ConditionState {
    var state = state
    if let override {
      state.since = override.since
      state.observed = "overridden to \(override.holds ? "hold" : "not hold"); \(seen)"
    } else if isDenied(isNetworkDenied) {
      state.observed = "network is overridden to not hold; \(seen)"
    } else {
      state.observed = seen
    }
    return state
  }

  /// When the next reading is due; nil if none is.
  var due: MonotonicTime? {
    guard state.isWatched else { return nil }
    guard isSampled else { return MonotonicTime(nanoseconds: .min) }
    let times = [nextSample, settling.settlesAt].compactMap { $0 }
    return times.min()
  }

  var isOverriddenToNotHold: Bool { override?.holds == false }

  /// Starts or stops observing. Drops earlier readings, which may be old.
  mutating func watch(_ wanted: Bool, isNetworkDenied: Bool, at wall: WallTime) {
    guard wanted != state.isWatched else { return }
    state.isWatched = wanted
    settling = fresh
    isSampled = false
    nextSample = nil
    state.isKnown = true
    seen = wanted ? "not read yet" : Self.unobserved
    settle(isNetworkDenied: isNetworkDenied, at: wall)
  }

  /// Sets an operator's override; nil removes it. Repeating an override keeps its original time.
  ///
  /// - Parameter since: When it was set, if not now.
  mutating func override(_ holds: Bool?, since: WallTime?, isNetworkDenied: Bool, at wall: WallTime) {
    if holds != override?.holds || since != nil { override = holds.map { Override(holds: $0, since: since ?? wall) } }
    settle(isNetworkDenied: isNetworkDenied, at: wall)
  }

  /// Ignores the reading if the condition is not observed.
  mutating func observe(_ reading: Reading, isNetworkDenied: Bool, at now: MonotonicTime, wall: WallTime) {
    guard state.isWatched else { return }
    isSampled = true
    nextSample = every.map { now + $0 }
    seen = reading.observed
    let before = settling.settlesAt
    settling.observe(reading.leaning, at: now)
    state.isKnown = settling.isKnown
    if settling.settlesAt != before || settling.settlesAt == nil { state.settlesAt = settling.settlesAt.map { wall + ($0 - now) } }
    settle(isNetworkDenied: isNetworkDenied, at: wall)
  }

  mutating func settle(isNetworkDenied: Bool, at wall: WallTime) {
    state.isOverridden = override != nil
    state.isRead = isSampled || override != nil
    if !isSampled { state.settlesAt = nil }
    let holds = override?.holds ?? (isSampled && settling.holds && !isDenied(isNetworkDenied))
    guard holds != state.holds else { return }
    state.holds = holds
    state.since = wall
  }

  private func isDenied(_ isNetworkDenied: Bool) -> Bool { isNetworkDenied && condition == .unmetered }
}
