import TaskModel

/// The state of all conditions: a pure function of interest, overrides, readings and time.
struct ConditionCore: Sendable {
  private var trackers: [ConditionTracker]
  /// The conditions that requests wait for or runs depend on.
  private(set) var interest: Conditions = []

  init(settings: ConditionSettings, at wall: WallTime) {
    let network = Settling(holdsAfter: settings.networkHoldsAfter, lostAfter: settings.networkLostAfter)
    let level = Settling(holdsAfter: .zero, lostAfter: .zero)
    trackers = [
      ConditionTracker(.network, settling: network, at: wall),
      ConditionTracker(.unmetered, settling: network, at: wall),
      ConditionTracker(
        .power, settling: Settling(holdsAfter: settings.powerHoldsAfter, lostAfter: settings.powerLostAfter), every: settings.powerEvery,
        at: wall),
      ConditionTracker(
        .idle, settling: Settling(holdsAfter: settings.idleHoldsAfter, lostAfter: settings.idleLostAfter, first: .startsLost),
        every: settings.idleEvery, at: wall),
      ConditionTracker(.batteryNotLow, settling: level, every: settings.powerEvery, at: wall),
      ConditionTracker(.storageNotLow, settling: level, every: settings.storageEvery, at: wall),
    ]
  }

  var report: ConditionReport {
    let isDenied = isNetworkDenied
    return ConditionReport(states: trackers.map { $0.report(isNetworkDenied: isDenied) })
  }

  /// nil if no reading is due.
  var nextDue: MonotonicTime? { trackers.compactMap(\.due).min() }

  func due(at now: MonotonicTime) -> Conditions {
    Conditions(trackers.filter { tracker in tracker.due.map { $0 <= now } ?? false }.map(\.condition))
  }

  /// Conditions outside the set are no longer observed.
  mutating func setInterest(_ wanted: Conditions, at wall: WallTime) {
    interest = wanted
    let isDenied = isNetworkDenied
    for index in trackers.indices {
      trackers[index].watch(wanted.contains(trackers[index].condition), isNetworkDenied: isDenied, at: wall)
    }
  }

  /// Sets an operator's override of each of `conditions`; nil removes it.
  ///
  /// - Parameter since: When it was set; nil means now.
  mutating func override(_ conditions: Conditions, holds: Bool?, since: WallTime? = nil, at wall: WallTime) {
    let isDenied = conditions.contains(.network) ? holds == false : isNetworkDenied
    for index in trackers.indices {
      if conditions.contains(trackers[index].condition) {
        trackers[index].override(holds, since: since, isNetworkDenied: isDenied, at: wall)
      } else {
        trackers[index].settle(isNetworkDenied: isDenied, at: wall)
      }
    }
  }

  mutating func observe(_ readings: [(condition: Conditions, reading: Reading)], at now: MonotonicTime, wall: WallTime) {
    let isDenied = isNetworkDenied
    for (condition, reading) in readings {
      guard let index = trackers.firstIndex(where: { $0.condition == condition }) else { continue }
      trackers[index].observe(reading, isNetworkDenied: isDenied, at: now, wall: wall)
    }
  }

  /// The report with fresh `readings` of unobserved conditions, without delays.
  func report(lookingAt readings: [(condition: Conditions, reading: Reading)], at now: MonotonicTime, wall: WallTime) -> ConditionReport {
    var looking = self
    looking.setInterest(.all, at: wall)
    looking.observe(readings, at: now, wall: wall)
    var report = report
    for (index, state) in looking.report.states.enumerated() where !interest.contains(state.condition) {
      report.states[index] = state
      report.states[index].isWatched = false
      report.states[index].settlesAt = nil
      if !state.isOverridden { report.states[index].since = wall }
    }
    return report
  }

  private var isNetworkDenied: Bool { trackers.first { $0.condition == .network }?.isOverriddenToNotHold ?? false }
}
