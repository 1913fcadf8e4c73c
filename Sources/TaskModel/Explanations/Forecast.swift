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

  /// The start of the period: now.
  public var from: WallTime
  /// The end of the period.
  public var to: WallTime
  /// The runs, earliest first.
  public var entries: [Entry]
  /// The requests that would not run.
  public var held: [Held]
  /// The assumptions, each a sentence without a full stop.
  public var notes: [String]
  /// Whether the period has more runs than the caller asked for.
  public var isTruncated: Bool

  /// Creates a forecast.
  public init(from: WallTime, to: WallTime, entries: [Entry] = [], held: [Held] = [], notes: [String] = [], isTruncated: Bool = false) {
    self.from = from
    self.to = to
    self.entries = entries
    self.held = held
    self.notes = notes
    self.isTruncated = isTruncated
  }

  /// The runs of some identifiers, at most `limit`, and their requests that would not run.
  public func narrowed(limit: Int = .max, to isWanted: (TaskIdentifier) -> Bool) -> Forecast {
    var narrowed = self
    let entries = entries.filter { isWanted($0.identifier) }
    narrowed.entries = Array(entries.prefix(limit))
    narrowed.isTruncated = isTruncated || entries.count > limit
    narrowed.held = held.filter { isWanted($0.identifier) }
    return narrowed
  }
}
