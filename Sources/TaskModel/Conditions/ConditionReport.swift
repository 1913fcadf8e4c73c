/// What is known of one condition of the machine.
public struct ConditionState: Sendable, Hashable {
  /// The one condition it is about.
  public var condition: Conditions
  /// Whether it counts as held, after hysteresis and overrides.
  public var holds: Bool
  /// Since when that is so, on the calendar.
  public var since: WallTime
  /// What was seen, in a sentence without a full stop: "battery at 12 %", "eth0 is up with a default route".
  public var observed: String
  /// False: the machine does not tell, ``observed`` says why; the condition then counts as held, so that nothing waits for a probe for ever.
  public var isKnown: Bool
  /// Whether it is being observed, because something waits for it or runs by it. What is not observed does not count as held.
  public var isWatched: Bool
  /// Whether an operator decided ``holds``.
  public var isOverridden: Bool
  /// When hysteresis lets ``holds`` change if the machine stays as it is; nil: it will not change so.
  public var settlesAt: WallTime?

  /// A condition's state; by default one of which nothing was seen.
  public init(
    condition: Conditions, holds: Bool, since: WallTime, observed: String, isKnown: Bool = true, isWatched: Bool = true,
    isOverridden: Bool = false, settlesAt: WallTime? = nil
  ) {
    self.condition = condition
    self.holds = holds
    self.since = since
    self.observed = observed
    self.isKnown = isKnown
    self.isWatched = isWatched
    self.isOverridden = isOverridden
    self.settlesAt = settlesAt
  }
}

/// What is known of every condition at one moment.
public struct ConditionReport: Sendable, Hashable {
  /// One for each condition, in the order of ``Conditions/named``.
  public var states: [ConditionState]

  /// A report of those states.
  public init(states: [ConditionState]) { self.states = states }

  /// The conditions that count as held.
  public var held: Conditions { Conditions(states.filter(\.holds).map(\.condition)) }

  /// The state of one condition; nil for none and for several.
  public subscript(condition: Conditions) -> ConditionState? { states.first { $0.condition == condition } }

  /// Whether both say the same but for the sentences in which they say it: whoever decides by this one need not by the other.
  public func decides(as other: ConditionReport) -> Bool {
    states.count == other.states.count
      && zip(states, other.states).allSatisfy { mine, other in
        var mine = mine
        mine.observed = other.observed
        return mine == other
      }
  }
}
