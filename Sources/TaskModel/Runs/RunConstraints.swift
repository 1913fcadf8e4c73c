/// What a request needs to run, besides its time. All requests of a lane share the same constraints.
///
/// Requests with the same constraints wait, and become runnable, together. The scheduler therefore checks a lane as a whole, and no request
/// is stuck behind one that must wait.
public struct RunConstraints: Sendable, Hashable {
  /// The machine conditions that the request requires.
  public var conditions: Conditions
  /// What a run does when it loses one of the conditions.
  public var onLostCondition: LostConditionPolicy
  /// The maintenance window that the request waits for, by its name in the configuration; nil for none.
  public var window: String?
  /// Runs with the same key share the limit per key; nil for no key.
  public var concurrencyKey: String?
  /// The tenant that the request belongs to where the operator has its identifier shared fairly; the scheduler writes it.
  public var tenant: String?
  /// The number of tokens that a run takes of each of the operator's named resources.
  public var resources: [String: Int]
  /// How much later than due a run may start, so that requests can share wake-ups.
  public var flex: Duration
  /// Whether the machine is woken from sleep when the request is due. It is here so that the scheduler finds the next such request.
  public var wakes = false
  /// The hosts of a fleet that the request prefers, see ``Preference``; nil for none.
  public var prefer: String?
  /// The host on which the request ran last, if it prefers that one; the host that ended the run writes it. Nil if it has not run.
  public var lastHost: String?
  /// Whether the request's deadline has passed: run-time quotas no longer apply.
  public var isPastDeadline = false
  /// Whether somebody has paused the request: it does not begin until it is resumed, see ``RequestPause``.
  public var isPaused = false
  /// The ``Pause`` that was found to hold the request when it was due; nil if none was. If that pause has ended, this means nothing.
  public var pause: PauseID?

  /// Creates constraints; by default only the request's time counts.
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

  /// No constraints: only the request's time counts.
  public static let none = RunConstraints()

  /// The conditions that a deadline does not lift.
  public static let lasting: Conditions = [.network, .unmetered, .power]

  /// The constraints after the deadline. Of the conditions, only network and power apply. Windows, flex and quotas no longer apply; other
  /// limits do.
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
  /// The run expires with `conditions`, and the request waits for the condition again.
  case stop
  /// The run continues to its end.
  case finish
}

/// The pending requests of one identifier with the same constraints.
public struct Lane: Sendable, Hashable {
  /// The task identifier.
  public var identifier: TaskIdentifier
  /// What the requests need besides their time.
  public var gates: RunConstraints

  /// Creates a lane.
  public init(_ identifier: TaskIdentifier, _ gates: RunConstraints = .none) {
    self.identifier = identifier
    self.gates = gates
  }
}
