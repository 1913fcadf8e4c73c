/// The runs of a future period if everything stays as it is now.
public struct Forecast: Sendable, Hashable {
  /// A future run.
  public struct Entry: Sendable, Hashable {
    /// When it would start.
    public var at: WallTime
    /// The task identifier.
    public var identifier: TaskIdentifier
    /// The request.
    public var request: RequestID
    /// For a repeating request: the scheduled time of the occurrence.
    public var occurrence: WallTime?
    /// The expected duration; nil if unknown.
    public var duration: Duration?
    /// Whether the entry depends on an assumption, for example that a condition holds.
    public var assumed: Bool

    /// Creates an entry.
    public init(
      at: WallTime, identifier: TaskIdentifier, request: RequestID, occurrence: WallTime? = nil, duration: Duration? = nil,
      assumed: Bool = false
    ) {
      self.at = at
      self.identifier = identifier
      self.request = request
      self.occurrence = occurrence
      self.duration = duration
      self.assumed = assumed
    }
  }

  /// A request that would not run in the period.
  public struct Held: Sendable, Hashable {
    /// The request.
    public var request: RequestID
    /// The task identifier.
    public var identifier: TaskIdentifier
    /// What keeps the request from running, without a full stop.
    public var reason: String

    /// Creates an entry.
    public init(request: RequestID, identifier: TaskIdentifier, reason: String) {
      self.request = request
      self.identifier = identifier
      self.reason = reason
    }
  }

  /// How often a request would run in the period.
  public struct Count: Sendable, Hashable {
    /// The request.
    public var request: RequestID
    /// The task identifier.
    public var identifier: TaskIdentifier
    /// The number of its runs, also of those that are not among the entries; if the forecast ended early, at least so many.
    public var runs: Int

    /// Creates a count.
    public init(request: RequestID, identifier: TaskIdentifier, runs: Int) {
      self.request = request
      self.identifier = identifier
      self.runs = runs
    }
  }

  /// The start of the period: now.
  public var from: WallTime
  /// The end of the period.
  public var to: WallTime
  /// The runs, earliest first. If there are more than the caller asked for, each request's first run comes before the later runs of others.
  public var entries: [Entry]
  /// How often each request would run, in the order of their first runs.
  public var counts: [Count]
  /// Until when every run is among the entries: `to`, or earlier if the forecast is truncated.
  public var completeUntil: WallTime
  /// The requests that would not run.
  public var held: [Held]
  /// The assumptions, each a sentence without a full stop.
  public var notes: [String]
  /// Whether the period has more runs than the caller asked for, or the forecast ended early.
  public var isTruncated: Bool

  /// Creates a forecast.
  public init(
    from: WallTime, to: WallTime, entries: [Entry] = [], counts: [Count] = [], completeUntil: WallTime? = nil, held: [Held] = [],
    notes: [String] = [], isTruncated: Bool = false
  ) {
    self.from = from
    self.to = to
    self.entries = entries
    self.counts = counts
    self.completeUntil = completeUntil ?? to
    self.held = held
    self.notes = notes
    self.isTruncated = isTruncated
  }
}
