/// The state of one condition of the machine.
public struct ConditionState: Sendable, Hashable {
  /// The condition.
  public var condition: Conditions
  /// Whether it counts as held, after hysteresis and overrides.
  public var holds: Bool
  /// When ``holds`` last changed, on the calendar.
  public var since: WallTime
  /// What was seen, in a sentence without a full stop: "battery at 12 %", "eth0 is up with a default route".
  public var observed: String
  /// Whether the machine reports the condition. If not, ``observed`` says why, and the condition counts as held, so that nothing waits
  /// forever for a probe.
  public var isKnown: Bool
  /// Whether the host observes the condition, because a request waits for it or a run depends on it. An unobserved condition does not count
  /// as held.
  public var isWatched: Bool
  /// Whether an operator decided ``holds``.
  public var isOverridden: Bool
  /// Whether ``holds`` comes from a reading or an override; false until the first reading.
  public var isRead: Bool
  /// When ``holds`` will change after hysteresis if the machine stays as it is; nil if it will not change.
  public var settlesAt: WallTime?

  /// Creates a condition's state.
  public init(
    condition: Conditions, holds: Bool, since: WallTime, observed: String, isKnown: Bool = true, isWatched: Bool = true,
    isOverridden: Bool = false, settlesAt: WallTime? = nil, isRead: Bool = true
  ) {
    self.condition = condition
    self.holds = holds
    self.since = since
    self.observed = observed
    self.isKnown = isKnown
    self.isWatched = isWatched
    self.isOverridden = isOverridden
    self.settlesAt = settlesAt
    self.isRead = isRead
  }
}

/// The state of every condition at one moment.
public struct ConditionReport: Sendable, Hashable {
  /// One state for each condition, in the order of ``Conditions/named``.
  public var states: [ConditionState]

  /// Creates a report.
  public init(states: [ConditionState]) { self.states = states }

  /// The conditions that count as held.
  public var held: Conditions { Conditions(states.filter(\.holds).map(\.condition)) }

  /// The conditions that are known not to hold. One that is not observed, or not read yet, may hold.
  public var lost: Conditions { Conditions(states.filter { $0.isRead && !$0.holds }.map(\.condition)) }

  /// The state of one condition; nil unless exactly one is given.
  public subscript(condition: Conditions) -> ConditionState? { states.first { $0.condition == condition } }

  /// Whether the machine is known to have no external power.
  public var isOnBattery: Bool { self[.power].map { $0.isKnown && $0.isRead && !$0.holds } ?? false }

  /// Since when the machine has been idle on battery; nil if it is not known to be.
  public var restingSince: WallTime? {
    guard isOnBattery, let power = self[.power], let idle = self[.idle], idle.isKnown, idle.isRead, idle.holds else { return nil }
    return max(power.since, idle.since)
  }

  /// Whether both reports lead to the same decisions. Their sentences may differ.
  public func decides(as other: ConditionReport) -> Bool {
    states.count == other.states.count
      && zip(states, other.states).allSatisfy { mine, other in
        var mine = mine
        mine.observed = other.observed
        return mine == other
      }
  }
}
