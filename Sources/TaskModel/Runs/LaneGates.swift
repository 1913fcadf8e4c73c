/// What must be so, besides its time, before a request may run: all that requests of an identifier that wait in the same lane share.
///
/// Requests with the same gates are held, and let through, together; so a lane is looked at as a whole, and no request is stuck behind one
/// that is held.
public struct LaneGates: Sendable, Hashable {
  /// What it needs of the machine.
  public var conditions: Conditions
  /// What a run does when one of them is lost.
  public var onLostCondition: LostConditionPolicy
  /// The maintenance window it waits for, by its name in the configuration; nil: none.
  public var window: String?
  /// Runs with the same key share the limit for a key; nil: none.
  public var concurrencyKey: String?
  /// How many tokens of the operator's named resources a run takes.
  public var resources: [String: Int]
  /// How much later than due it may begin, so that wake-ups are shared.
  public var flex: Duration
  /// Whether its deadline has passed: quotas of run time do not hold it.
  public var isPastDeadline = false

  /// Gates as given; nothing but its time by default.
  public init(
    conditions: Conditions = [], onLostCondition: LostConditionPolicy = .stop, window: String? = nil, concurrencyKey: String? = nil,
    resources: [String: Int] = [:], flex: Duration = .zero
  ) {
    self.conditions = conditions
    self.onLostCondition = onLostCondition
    self.window = window
    self.concurrencyKey = concurrencyKey
    self.resources = resources
    self.flex = flex
  }

  /// Nothing but its time.
  public static let none = LaneGates()

  /// The conditions that a deadline does not lift.
  public static let lasting: Conditions = [.network, .unmetered, .power]

  /// What is left once the deadline has passed: of the conditions only network and power count, no window and no quota; other limits stay.
  public var relaxed: LaneGates {
    var gates = self
    gates.isPastDeadline = true
    gates.conditions.formIntersection(Self.lasting)
    gates.window = nil
    gates.flex = .zero
    return gates
  }
}

/// What a run does when a condition that its request requires is lost.
public enum LostConditionPolicy: String, Sendable, CaseIterable {
  /// It expires with `conditions`, and the request waits for the condition again.
  case stop
  /// It goes on to its end.
  case finish
}

/// Whose pending requests, behind which gates.
public struct Lane: Sendable, Hashable {
  /// Whose handler.
  public var identifier: TaskIdentifier
  /// What they wait for besides their time.
  public var gates: LaneGates

  /// A lane as given.
  public init(_ identifier: TaskIdentifier, _ gates: LaneGates = .none) {
    self.identifier = identifier
    self.gates = gates
  }
}
