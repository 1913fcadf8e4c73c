/// What a request needs to run, besides its time. All requests of a lane share it.
///
/// Requests with the same gates wait, and become runnable, together. The scheduler therefore checks a lane as a whole, and no request is
/// stuck behind one that must wait.
public struct RunConstraints: Sendable, Hashable {
  /// The machine conditions it requires.
  public var conditions: Conditions
  /// What a run does when it loses one of them.
  public var onLostCondition: LostConditionPolicy
  /// The maintenance window it waits for, by its name in the configuration; nil means none.
  public var window: String?
  /// Runs with the same key share the limit per key; nil for none.
  public var concurrencyKey: String?
  /// How many tokens of the operator's named resources a run takes.
  public var resources: [String: Int]
  /// How much later than due it may begin, so that requests can share wake-ups.
  public var flex: Duration
  /// Whether its deadline has passed: run-time quotas no longer apply.
  public var isPastDeadline = false

  /// Creates gates; by default only its time counts.
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

  /// Only its time counts.
  public static let none = RunConstraints()

  /// The conditions that a deadline does not lift.
  public static let lasting: Conditions = [.network, .unmetered, .power]

  /// The gates after the deadline: of the conditions only network and power apply, windows and quotas do not; other limits stay.
  public var relaxed: RunConstraints {
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
  /// It continues to its end.
  case finish
}

/// The pending requests of one identifier with the same gates.
public struct Lane: Sendable, Hashable {
  /// The task identifier.
  public var identifier: TaskIdentifier
  /// What they need besides their time.
  public var gates: RunConstraints

  /// Creates a lane.
  public init(_ identifier: TaskIdentifier, _ gates: RunConstraints = .none) {
    self.identifier = identifier
    self.gates = gates
  }
}
