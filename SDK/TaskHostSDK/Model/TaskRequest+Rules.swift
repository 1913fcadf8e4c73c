extension TaskRequest {
  /// When a request repeats.
  public enum Repetition: Sendable, Equatable {
    /// At this interval, on a grid that does not drift. The host raises one that is shorter than its `minimum_interval`.
    case every(Duration, missed: Missed = .latest)
    /// At the times of a cron expression: five fields, or a name such as `@daily`. `timeZone` is an IANA name; `nil`: the machine's.
    case cron(String, timeZone: String? = nil, daylight: Daylight = Daylight(), missed: Missed = .latest)
    /// At each event that ``TaskRequest/event`` names, or each change of ``TaskRequest/watch``.
    case event
  }

  /// What happens to occurrences whose time passed while they could not run.
  public enum Missed: Sendable, Equatable {
    /// One run stands for all of them.
    case latest
    /// None of them runs.
    case skip
    /// The latest `limit` of them run, one every `spread`, which is at least a millisecond.
    case all(limit: Int = 10, spread: Duration = .seconds(60))
  }

  /// What happens to a time of day that clocks skip or show twice when they are set.
  public struct Daylight: Sendable, Equatable {
    /// A time that does not exist that day.
    public enum Gap: Sendable {
      /// It moves by as much as the clocks are set forward: 02:30 becomes 03:30.
      case shift
      /// It is left out.
      case skip
    }

    /// A time that comes twice that day.
    public enum Repeated: Sendable {
      /// Only the first time counts.
      case first
      /// Only the second time counts.
      case last
      /// Both times count.
      case both
    }

    /// A time that does not exist that day.
    public var gap: Gap
    /// A time that comes twice that day.
    public var repeated: Repeated

    /// Creates a policy.
    public init(gap: Gap = .shift, repeated: Repeated = .first) {
      self.gap = gap
      self.repeated = repeated
    }
  }

  /// How often and how soon a request is tried again.
  public struct Retry: Sendable, Equatable {
    /// How the delay grows.
    public enum Backoff: Sendable {
      /// ``Retry/initial`` times the attempts spent.
      case linear
      /// ``Retry/initial``, doubled with each attempt spent.
      case exponential
    }

    /// The number of attempts before the request fails for good, 1 to 1,000.
    public var attempts: Int
    /// How the delay grows with each attempt.
    public var backoff: Backoff
    /// The first delay, 100 ms to 30 days.
    public var initial: Duration
    /// The longest delay, at least ``initial``, at most 30 days.
    public var maximum: Duration

    /// Creates a policy.
    public init(
      attempts: Int = 5, backoff: Backoff = .exponential, initial: Duration = .seconds(30), maximum: Duration = .seconds(5 * 3600)
    ) {
      self.attempts = attempts
      self.backoff = backoff
      self.initial = initial
      self.maximum = maximum
    }
  }

  /// A request that must end before another may run.
  public struct Predecessor: Sendable, Equatable {
    /// What becomes of the request that waits if this one fails or is cancelled.
    public enum FailurePolicy: Sendable {
      /// It ends in the same way.
      case fail
      /// It runs all the same.
      case ignore
    }

    /// The id of the request that must end first, of an identifier that the plugin may submit to.
    public var requestID: String
    /// What becomes of the request that waits if this one fails or is cancelled.
    public var onFailure: FailurePolicy

    /// Creates a predecessor.
    public init(_ requestID: String, onFailure: FailurePolicy = .fail) {
      self.requestID = requestID
      self.onFailure = onFailure
    }
  }

  /// What a run does when a condition that it requires is lost.
  public enum LostCondition: Sendable {
    /// It expires with ``StopReason/conditions``, and the request waits for the condition again.
    case stop
    /// It goes on to its end.
    case finish
  }
}
