public import TaskModel

/// The share of a ``RunQuota`` that a task gets, depending on how useful its last runs were.
///
/// - Source: Android's app standby buckets (`active`, `working_set`, `frequent`, `rare`, `restricted`), which depend on how an app is used;
///   a host without a screen uses the outcomes of runs.
public enum BehaviourBucket: String, Sendable, Hashable, CaseIterable {
  /// At least 80 % useful: the whole quota.
  case active
  /// At least 50 %: half of it.
  case working
  /// At least 35 %: a quarter.
  case frequent
  /// At least 20 %: a quarter, unless the quota has a share of its own for it.
  case rare
  /// Less: a tenth.
  case restricted

  /// The maximum number of runs that count.
  public static let runs = 20
  /// With fewer runs, a task counts as ``active``.
  public static let fewestRuns = 5
  /// How long a run counts.
  public static let memory: Duration = .seconds(30 * 86_400)

  /// The divisor of the quota.
  public var divisor: Int {
    switch self {
    case .active: 1
    case .working: 2
    case .frequent, .rare: 4
    case .restricted: 10
    }
  }

  /// The share in words.
  var share: String {
    switch self {
    case .active: "all"
    case .working: "half"
    case .frequent, .rare: "a quarter"
    case .restricted: "a tenth"
    }
  }

  /// How useful a run was.
  public enum Merit: Int, Sendable, Hashable {
    /// It failed, crashed, asked for a retry or used up its budget.
    case none = 0
    /// It found nothing to do, or did only a part: half as useful as a success.
    case half = 1
    /// It succeeded.
    case full = 2

    /// nil if the run does not count because something else ended it.
    public init?(_ outcome: RunOutcome) {
      switch outcome {
      case .succeeded: self = .full
      case .noop, .snoozed: self = .half
      case .retried, .failed, .expired, .crashed: self = .none
      case .cancelled, .stopped, .lost: return nil
      }
    }
  }

  /// The bucket for the merits of the last runs, ``runs`` at most.
  public init(_ merits: some Collection<Merit>) {
    let reached = merits.reduce(0) { $0 + $1.rawValue } * 100
    let possible = merits.count * Merit.full.rawValue
    switch merits.count {
    case ..<Self.fewestRuns: self = .active
    case _ where reached >= 80 * possible: self = .active
    case _ where reached >= 50 * possible: self = .working
    case _ where reached >= 35 * possible: self = .frequent
    case _ where reached >= 20 * possible: self = .rare
    default: self = .restricted
    }
  }
}
